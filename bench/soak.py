#!/usr/bin/env python3
"""Whether docent stays right, small and quick over a long time, while files change and one client misbehaves.

usage: bench/soak.py DOCENT [--minutes 30] [--clients 8] [--seed 1] [--calm] [--out FILE.json] [--plot FILE.svg]

Half of the clients share one `docent serve --http`, alternately in a session and stateless; each of the others has a
`docent serve` on stdio. All of them serve one generated project with a repository. A client calls tools at random, about two
calls in a second, below the rate limits. Every answer has one right form, which the client knows: the text of a file, the path
with a unique word, the number of lines that match, the newest commit, a page of the documentation. Meanwhile files are changed,
created and deleted, and commits are made.

The abusive client (left out with --calm) sends slow greps sixty at a time and hangs up on some of them, opens sessions and
abandons them, leaves connections half open, and sends bodies that are no messages, megabytes in names, and wrong hosts.

A search that misses the latest change is `late` if its notice says so; it is repeated and must be right within a minute. Any
other difference is a wrong answer. The exit code is 1 after a wrong answer, an error, a dead server, a p99 of light calls
(`hello`, `read_file`) of 250 ms or more, or if memory, files or threads of a server grow: the highest value of the last third
must not pass that of the second third by more than a tenth and a small constant.
"""

import argparse
import collections
import contextlib
import http.client
import json
import os
import pathlib
import random
import socket
import string
import subprocess
import sys
import tempfile
import threading
import time

import plot
from server import Server

SESSION_ERA, STATELESS_ERA = "2025-11-25", "2026-07-28"
LIGHT = ("hello", "read_file")
MAX_LIGHT_P99_MS = 250
SAMPLE_SECONDS = 5
PAUSE_SECONDS = 0.5
MAX_LATE_SECONDS = 60
# Weights of the calls. At two calls in a second each tool stays below its limit a minute.
CALLS = {"hello": 20, "read_file": 35, "context_search": 15, "grep_codebase": 12, "git_log": 8, "search_docs": 10}
# How much each measure may grow from the second third of the time to the last, beyond a tenth.
ROOM = {"rss_mb": 8, "fds": 6, "threads": 3}


class Project:
    """The generated project. A file is changed and checked under its lock, so every check has one right answer."""

    def __init__(self, root, chance, files=400):
        self.root, self.chance = root, chance
        self.guard = threading.Lock()
        self.files = {}
        self.commits = 0
        for number in range(files):
            self.add(f"area{number % 12}/part{number}.py")
        for number in range(20):
            page = root / f"docs/page{number}.md"
            page.parent.mkdir(exist_ok=True)
            page.write_text(f"# Page {number}\n\n## Subject {self.page_word(number)}\n\nText about it.\n", encoding="utf-8")
        # Too large for the index, and slow to search with a pattern that backs up at every word.
        (root / "data.log").write_text("2026 rows returned and appended by worker number 17, none lost\n" * 60_000, encoding="utf-8")
        self.git("init", "--quiet")
        (root / ".git/info/exclude").write_text("*.new~\n", encoding="utf-8")
        self.commit()

    def git(self, *words):
        identity = ["-c", "user.name=Soak", "-c", "user.email=soak@example.com", "-c", "gc.auto=0"]
        subprocess.run(["git", *identity, *words], cwd=self.root, check=True, stdout=subprocess.DEVNULL)

    @staticmethod
    def page_word(number):
        return "subject" + "".join(string.ascii_lowercase[int(digit)] for digit in f"{number:03}")

    def word(self):
        return "zq" + "".join(self.chance.choices(string.ascii_lowercase, k=12))

    def add(self, path):
        file = SoakFile(path)
        self.write(file)
        with self.guard:
            self.files[path] = file

    def write(self, file):
        file.word = self.word()
        body = "\n".join(f"    rows.append({n})" for n in range(self.chance.randrange(5, 60)))
        file.text = f"# {file.word}\ndef handle_{file.word}(rows):\n{body}\n    return common_helper(rows)\n"
        where = self.root / file.path
        where.parent.mkdir(exist_ok=True, parents=True)
        # Editors save like this; nobody sees half a file.
        new = where.with_suffix(".new~")
        new.write_text(file.text, encoding="utf-8")
        new.rename(where)

    def some_file(self, chance):
        with self.guard:
            return self.files[chance.choice(sorted(self.files))]

    def commit(self):
        with self.guard:
            self.git("add", "--all")
            self.git("commit", "--quiet", "--allow-empty", "--message", f"soak: change {self.commits + 1}")
            self.commits += 1

    def change_something(self):
        kind = self.chance.random()
        if kind < 0.8:
            file = self.some_file(self.chance)
            with file.lock:
                if not file.gone:
                    self.write(file)
        elif kind < 0.9:
            self.add(f"area{self.chance.randrange(12)}/new{self.chance.randrange(10**9)}.py")
        else:
            file = self.some_file(self.chance)
            with file.lock, self.guard:
                self.files.pop(file.path, None)
                (self.root / file.path).unlink(missing_ok=True)
                file.gone = True


class SoakFile:
    def __init__(self, path):
        self.path, self.word, self.text, self.gone = path, "", "", False
        self.lock = threading.Lock()


class Journal:
    """Counts, durations and faults, from any thread."""

    def __init__(self):
        self.guard = threading.Lock()
        self.times = collections.defaultdict(list)
        self.counts = collections.Counter()
        self.faults = []

    def time(self, tool, seconds):
        with self.guard:
            self.times[tool].append(seconds)

    def count(self, name):
        with self.guard:
            self.counts[name] += 1

    def fault(self, kind, **details):
        with self.guard:
            self.counts[kind] += 1
            if len(self.faults) < 50:
                self.faults.append({"kind": kind, **details})

    def percentile(self, tools, share):
        times = sorted(time for tool in tools for time in self.times[tool])
        return round(times[int(share * (len(times) - 1))] * 1000, 2) if times else 0.0


class HttpClient:
    """One client of the HTTP server over one connection, in a session or stateless."""

    def __init__(self, address, era, name):
        self.era, self.name, self.number = era, name, 0
        self.connection = http.client.HTTPConnection(*address, timeout=60)
        self.session = None
        if era == SESSION_ERA:
            client = {"name": name, "version": "0"}
            params = {"protocolVersion": era, "capabilities": {}, "clientInfo": client}
            self.session = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})[1]
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def post(self, message):
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        if self.session or self.era == STATELESS_ERA:
            headers["MCP-Protocol-Version"] = self.era
        if self.session:
            headers["Mcp-Session-Id"] = self.session
        elif self.era == STATELESS_ERA:
            headers |= {"Mcp-Method": message["method"], "Mcp-Name": message["params"].get("name", "")}
        self.connection.request("POST", "/mcp", json.dumps(message).encode(), headers)
        response = self.connection.getresponse()
        return response.read().decode(), response.getheader("mcp-session-id")

    def call(self, tool, arguments):
        self.number += 1
        params = {"name": tool, "arguments": arguments}
        if self.era == STATELESS_ERA:
            params["_meta"] = {
                "io.modelcontextprotocol/protocolVersion": self.era,
                "io.modelcontextprotocol/clientInfo": {"name": self.name, "version": "0"},
                "io.modelcontextprotocol/clientCapabilities": {},
            }
        body, _ = self.post({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})
        events = [line[5:].strip() for line in body.splitlines() if line.startswith("data:") and line[5:].strip()]
        message = json.loads(events[-1] if events else body)
        return message.get("result") or {"isError": True, "content": [{"text": body}]}


class Checker:
    """Makes calls with one client and compares each answer with the project."""

    def __init__(self, client, project, journal, seed):
        self.client, self.project, self.journal = client, project, journal
        self.chance = random.Random(seed)

    def run(self, until):
        while time.monotonic() < until:
            tool = self.chance.choices(list(CALLS), list(CALLS.values()))[0]
            try:
                getattr(self, tool)()
            except (OSError, http.client.HTTPException, ValueError, KeyError, SystemExit) as error:
                self.journal.fault("broken", tool=tool, error=repr(error))
                return
            time.sleep(self.chance.random() * 2 * PAUSE_SECONDS)

    def call(self, tool, arguments):
        """The text of an answer. `None` after an error, which is a fault."""
        started = time.perf_counter()
        result = self.client.call(tool, arguments)
        self.journal.time(tool, time.perf_counter() - started)
        text = result["content"][0]["text"]
        if result.get("isError"):
            self.journal.fault("error", tool=tool, arguments=arguments, said=text[:300])
            return None
        return text

    def expect(self, is_right, tool, **details):
        if is_right:
            self.journal.count("right")
        else:
            self.journal.fault("wrong", tool=tool, **details)

    def hello(self):
        text = self.call("hello", {"name": "soak"})
        if text is not None:
            self.expect(json.loads(text)["message"] == "Hello, soak!", "hello", said=text)

    def read_file(self):
        file = self.project.some_file(self.chance)
        with file.lock:
            text = None if file.gone else self.call("read_file", {"path": file.path})
            if text is not None:
                content = json.loads(text)["file"]["content"]
                self.expect(content.rstrip("\n") == file.text.rstrip("\n"), "read_file", path=file.path, said=content[:200])

    def context_search(self):
        file = self.project.some_file(self.chance)
        with file.lock:
            if file.gone:
                return
            began = time.monotonic()
            while True:
                text = self.call("context_search", {"query": file.word, "format": "json"})
                if text is None:
                    return
                answer = json.loads(text)
                paths = [found["path"] for found in answer["results"]]
                if paths and paths[0] == file.path:
                    self.journal.count("right")
                    return
                if not answer.get("notice") or time.monotonic() - began > MAX_LATE_SECONDS:
                    self.journal.fault("wrong", tool="context_search", word=file.word, path=file.path, said=answer)
                    return
                self.journal.count("late")
                time.sleep(PAUSE_SECONDS)

    def grep_codebase(self):
        file = self.project.some_file(self.chance)
        with file.lock:
            text = None if file.gone else self.call("grep_codebase", {"pattern": file.word})
            if text is not None:
                # The word is in the comment and in the name of the function.
                self.expect(json.loads(text)["totalMatches"] == 2, "grep_codebase", word=file.word, said=text[:300])

    def git_log(self):
        with self.project.guard:
            newest = f"soak: change {self.project.commits}"
            text = self.call("git_log", {"limit": 1})
        if text is not None:
            self.expect(newest in text, "git_log", expected=newest, said=text[:300])

    def search_docs(self):
        number = self.chance.randrange(20)
        text = self.call("search_docs", {"query": Project.page_word(number)})
        if text is not None:
            self.expect(f"docs/page{number}.md" in text, "search_docs", number=number, said=text[:300])


class Abuser:
    """A client that misbehaves in turn in each way. Its errors are only counted; the server has to survive it."""

    def __init__(self, address, journal, seed):
        self.address, self.journal = address, journal
        self.chance = random.Random(seed)
        self.half_open = collections.deque()

    def run(self, until):
        ways = (self.grep_slowly, self.abandon_sessions, self.leave_half_open, self.send_nonsense, self.send_long_names)
        while time.monotonic() < until:
            for way in ways:
                try:
                    way()
                except (OSError, http.client.HTTPException, ValueError) as error:
                    self.journal.count(f"abuse refused: {type(error).__name__}")
                self.journal.count(f"abuse: {way.__name__}")
                time.sleep(self.chance.random())
        for connection in self.half_open:
            connection.close()

    def grep_slowly(self):
        client = HttpClient(self.address, SESSION_ERA, "abuser")
        request = {"name": "grep_codebase", "arguments": {"pattern": r"(\w+\s*){8}(rows|return|append).*(\d+)\W*$"}}

        def grep(number):
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection(*self.address, timeout=20)
                body = json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": request})
                headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                headers |= {"MCP-Protocol-Version": SESSION_ERA, "Mcp-Session-Id": client.session or ""}
                connection.request("POST", "/mcp", body, headers)
                if number % 3:
                    connection.getresponse().read()
                connection.close()

        threads = [threading.Thread(target=grep, args=(number,)) for number in range(60)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    def abandon_sessions(self):
        for number in range(50):
            HttpClient(self.address, SESSION_ERA, f"abandoned {number}").connection.close()

    def leave_half_open(self):
        for _ in range(40):
            connection = socket.create_connection(self.address, timeout=10)
            connection.sendall(b"POST /mcp HTTP/1.1\r\nHost: localhost\r\n")
            self.half_open.append(connection)
        while len(self.half_open) > 300:
            self.half_open.popleft().close()

    def send_nonsense(self):
        bodies = (b"{", b"\xff\xfe", b"[]", b"[" * 100_000, b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}', os.urandom(50_000))
        for host in ("localhost", "evil.example"):
            for body in bodies:
                connection = http.client.HTTPConnection(*self.address, timeout=20)
                headers = {"Host": host, "Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
                connection.request("POST", "/mcp", body, headers)
                connection.getresponse().read()
                connection.close()

    def send_long_names(self):
        for era in (SESSION_ERA, STATELESS_ERA):
            client = HttpClient(self.address, era, str(self.chance.random()) * 100_000)
            client.call("hello", {"name": "x"})
            client.connection.close()


def measure(pid):
    """Memory, open files and threads of a process. `None` if it has ended."""
    try:
        status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii", errors="replace")
        lines = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
        if "VmRSS" not in lines:
            return None
        fds = len(os.listdir(f"/proc/{pid}/fd"))
        return {"rss_mb": int(lines["VmRSS"].split()[0]) / 1024, "fds": fds, "threads": int(lines["Threads"])}
    except OSError:
        return None


def sample(servers, journal, started, until):
    """Measures all servers until the end. Returns the series of each."""
    series = {name: [] for name in servers}
    while time.monotonic() < until:
        for name, process in servers.items():
            values = measure(process.pid)
            if values is None:
                journal.fault("dead", server=name, code=process.poll())
                return series
            series[name].append({"minute": (time.monotonic() - started) / 60, **values})
        time.sleep(SAMPLE_SECONDS)
    return series


def growth(series):
    """Measures whose highest value of the last third passes that of the second third."""
    found = []
    for name, rows in series.items():
        third = len(rows) // 3
        for measure_name, room in ROOM.items():
            middle = max((row[measure_name] for row in rows[third : 2 * third]), default=0)
            last = max((row[measure_name] for row in rows[2 * third :]), default=0)
            if last > middle * 1.1 + room:
                found.append({"server": name, "measure": measure_name, "second_third": middle, "last_third": last})
    return found


def start_http(docent, root, environment):
    """Starts the HTTP server. Returns the process and its address."""
    command = [docent, "--root", str(root), "serve", "--http", "127.0.0.1:0"]
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment, text=True)
    for line in process.stderr:
        if "http://" in line:
            host, port = line.split("http://")[1].split("/")[0].split(":")
            # Read the log to its end. Otherwise the pipe fills up and the server blocks.
            threading.Thread(target=collections.deque, args=(process.stderr, 0), daemon=True).start()
            return process, (host, int(port))
    sys.exit("docent has ended before it listened")


def soak(options, folder):
    chance = random.Random(options.seed)
    root = folder / "project"
    root.mkdir()
    project, journal = Project(root, chance), Journal()
    environment = {**os.environ, "HOME": str(folder), "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder)}
    web, address = start_http(options.docent, root, environment)
    servers, clients = {"http": web}, []
    for number in range(options.clients):
        if number % 2:
            server = Server([options.docent, "--root", str(root), "serve"], environment)
            servers[f"stdio {number}"] = server.process
            clients.append(server)
        else:
            era = SESSION_ERA if number % 4 else STATELESS_ERA
            clients.append(HttpClient(address, era, f"soak {number}"))
    started = time.monotonic()
    until = started + options.minutes * 60

    def edit():
        count = 0
        while time.monotonic() < until:
            project.change_something()
            count += 1
            if count % 40 == 0:
                project.commit()
            time.sleep(project.chance.random() * 2 * PAUSE_SECONDS)
        journal.counts["changes"] = count

    work = [Checker(client, project, journal, f"{options.seed} {n}").run for n, client in enumerate(clients)]
    if not options.calm:
        work.append(Abuser(address, journal, options.seed).run)
    threads = [threading.Thread(target=run, args=(until,), daemon=True) for run in work]
    threads.append(threading.Thread(target=edit, daemon=True))
    for thread in threads:
        thread.start()
    series = sample(servers, journal, started, until)
    for thread in threads:
        thread.join(timeout=90)
    for process in servers.values():
        process.terminate()
    return journal, series


def report(options, journal, series):
    p99 = journal.percentile(LIGHT, 0.99)
    grown = growth(series)
    counts = journal.counts
    is_good = not (counts["wrong"] or counts["error"] or counts["broken"] or counts["dead"] or grown) and p99 < MAX_LIGHT_P99_MS
    calls = {
        tool: {"calls": len(times), "p50_ms": journal.percentile([tool], 0.5), "p99_ms": journal.percentile([tool], 0.99)}
        for tool, times in sorted(journal.times.items())
    }
    ends = {name: {"first": rows[0], "last": rows[-1]} for name, rows in series.items() if rows}
    summary = {
        "minutes": options.minutes, "clients": options.clients, "passed": is_good, "light_p99_ms": p99,
        "counts": dict(sorted(counts.items())), "calls": calls, "grown": grown, "servers": ends, "faults": journal.faults,
    }
    print(json.dumps(summary, indent=1))
    if options.out:
        pathlib.Path(options.out).write_text(json.dumps({**summary, "series": series}), encoding="utf-8")
    if options.plot:
        panels = [(name, [(server, [(row["minute"], row[name]) for row in rows]) for server, rows in series.items()]) for name in ROOM]
        pathlib.Path(options.plot).write_text(plot.timelines(panels), encoding="utf-8")
    return 0 if is_good else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--calm", action="store_true", help="without the abusive client")
    parser.add_argument("--out")
    parser.add_argument("--plot")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        journal, series = soak(options, pathlib.Path(folder))
        return report(options, journal, series)


if __name__ == "__main__":
    sys.exit(main())
