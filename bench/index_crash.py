#!/usr/bin/env python3
"""Whether searches stay right while many processes share one index, and while those that write it are killed.

usage: bench/index_crash.py DOCENT [--part crowd|kill|corrupt|all] [--seconds 90] [--rounds 200] [--seed 1] [--out FILE]

crowd: eight servers and two loops of command-line searches on one generated project, while its files and directories are created,
changed, renamed and deleted, and in the last third the index is rebuilt now and then. Each file has a word that no other has.
After each change a server is asked for that word at once: the answer must name the current path of the file, and must not show
deleted text.

kill: a process that writes the index is killed with SIGKILL, each round at another moment, some as soon as a commit begins. Then
a server that was running all the time, or a new process, must answer right within the bound, and the index must be complete:
nothing pending, no trouble, as many chunks as an index built from nothing, and no growth on disk over the rounds. In the first half
of the rounds one index lives through all of them; in the second half the processes killed are those that begin a new index.

corrupt: a file of the index is truncated, zeroed, overwritten in places or deleted under two servers that have it open, one that
watches and one that does not, and all files of a segment now and then; half of the rounds change a project file as well. Both
must answer right within the bound, and so must a new process. Nobody may die. The report of the damage is no failure here.

A wrong answer is `late` if its notice says that something is missing, otherwise `wrong`. Either way the search is repeated until
it is right, which must happen within the bound. Everything lies in a temporary folder. The exit code is 1 if a check failed.
/proc shows the holder of a lock, so only on Linux the script knows how many kills hit a process that held it.
"""

import argparse
import collections
import contextlib
import json
import os
import pathlib
import queue
import random
import re
import shutil
import string
import subprocess
import sys
import tempfile
import threading
import time

from server import Server

SERVERS = 8
LOOPS = 2
LANDMARK = "landmarkoftheproject"
SURVIVORS = ("server that watches", "server that looks when asked", "new process")
KILLED = ("new server", "server while files change", "index --force", "first index")
# Lifetime of one survivor: long enough to see several writers die beside it.
BLOCK = 10
COMPARED = 5
LANGUAGES = {
    "py": ("# {about}", "def {name}(rows):\n    total = len(rows)\n    return total + {number}\n"),
    "rs": ("// {about}", "fn {name}(rows: &[u32]) -> usize {{\n    let total = rows.len();\n    total + {number}\n}}\n"),
    "js": ("// {about}", "function {name}(rows) {{\n  const total = rows.length;\n  return total + {number};\n}}\n"),
    "ts": ("// {about}", "export function {name}(rows: number[]): number {{\n  return rows.length + {number};\n}}\n"),
    "go": ("// {about}", "func {name}(rows []int) int {{\n\ttotal := len(rows)\n\treturn total + {number}\n}}\n"),
    "java": ("// {about}", "class {name} {{\n    int count(int[] rows) {{\n        return rows.length + {number};\n    }}\n}}\n"),
    "c": ("/* {about} */", "int {name}(int *rows, int count) {{\n    return rows[0] + count + {number};\n}}\n"),
    "md": ("# {about}", "## {name}\n\nThe rows are counted, and {number} is added.\n"),
}


class Project:
    """A generated tree, and for each file the word that no other file has."""

    def __init__(self, root, chance, files, functions):
        self.root = root
        self.chance = chance
        self.words = {}
        self.bodies = {ending: self.body(ending, functions) for ending in LANGUAGES}
        self.write("landmark/fixed.py", LANDMARK)
        for number in range(files):
            self.create(f"area{number % 7}/part{number % 23}")

    def body(self, ending, functions):
        """Text that all files of a language share; its only purpose is to take time."""
        form = LANGUAGES[ending][1]
        return "\n".join(form.format(name=f"common_{ending}_{n}", number=n) for n in range(functions))

    def word(self):
        return "zq" + "".join(self.chance.choices(string.ascii_lowercase, k=12))

    def write(self, path, word):
        about, form = LANGUAGES[path.rpartition(".")[2]]
        # The word is in a comment, in a name, or in both.
        where = self.chance.randrange(3)
        comment = about.format(about=word if where != 1 else "says nothing of it")
        name = f"handle_{word}" if where != 0 else "handle_rows"
        own = form.format(name=name, number=self.chance.randrange(1000))
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{comment}\n{own}\n{self.bodies[path.rpartition('.')[2]]}", encoding="utf-8")

    def create(self, directory=None):
        if directory is None:
            directory = self.some_directory() if self.chance.random() < 0.7 else f"new/{self.word()}/deep"
        path = f"{directory}/file{self.chance.randrange(10**9)}.{self.chance.choice(list(LANGUAGES))}"
        self.words[path] = self.word()
        self.write(path, self.words[path])
        return [(self.words[path], path)]

    def some(self):
        return self.chance.choice(sorted(self.words))

    def some_directory(self):
        return self.some().rpartition("/")[0]

    def inside(self, directory):
        return [path for path in self.words if path.startswith(f"{directory}/")]

    def now(self, checks):
        """The checks of one change, updated to the state after all changes."""
        where = {word: path for path, word in self.words.items()}
        return [(word, where.get(word)) for word, _ in checks]

    def known(self, count):
        """Checks for a sample of all files, changed or not."""
        return [(self.words[path], path) for path in self.chance.sample(sorted(self.words), count)]

    # Each change returns what a search must answer now: words with the one path that has them, or with `None`.

    def change(self, path=None):
        path = path or self.some()
        before = self.words[path]
        self.words[path] = self.word()
        self.write(path, self.words[path])
        return [(self.words[path], path), (before, None)]

    def change_many(self, paths):
        checks = [check for path in paths for check in self.change(path)]
        return self.chance.sample(checks, min(6, len(checks)))

    def rename(self):
        path = self.some()
        new = f"{self.some_directory()}/moved{self.chance.randrange(10**9)}.{path.rpartition('.')[2]}"
        (self.root / path).rename(self.root / new)
        self.words[new] = self.words.pop(path)
        return [(self.words[new], new)]

    def delete(self):
        path = self.some()
        (self.root / path).unlink()
        return [(self.words.pop(path), None)]

    def rename_directory(self):
        directory = self.some_directory()
        new = f"area{self.chance.randrange(7)}/taken{self.chance.randrange(10**9)}"
        (self.root / new).parent.mkdir(parents=True, exist_ok=True)
        (self.root / directory).rename(self.root / new)
        for path in self.inside(directory):
            self.words[new + path[len(directory) :]] = self.words.pop(path)
        moved = self.inside(new)
        return [(self.words[path], path) for path in self.chance.sample(moved, min(3, len(moved)))]

    def replace_directory(self):
        """Replaces a directory by a new one of the same name, as a generator or a checkout does."""
        directory = self.some_directory()
        gone = [self.words.pop(path) for path in self.inside(directory)]
        shutil.rmtree(self.root / directory)
        checks = [check for _ in range(2) for check in self.create(directory)]
        return checks + [(word, None) for word in gone[:2]]

    def random_change(self):
        kinds = {
            self.change: 40,
            self.create: 20,
            self.rename: 12,
            self.delete: 12,
            self.rename_directory: 5,
            self.replace_directory: 5,
        }
        kind = self.chance.choices(list(kinds), list(kinds.values()))[0]
        return kind.__name__.replace("_", " "), kind()


class Client(Server):
    """A server whose answers need not be awaited, and may never arrive."""

    patience = 60

    def __init__(self, docent, root, environment, errors, *settings):
        # Switch off the rate limit, which is not the subject here.
        options = [word for setting in ("limit.context_search=0", *settings) for word in ("--set", setting)]
        self.answers = queue.Queue()
        # Both the script and a burst may ask; answers arrive in the order of the questions.
        self.turn = threading.Lock()
        super().__init__([docent, "--root", str(root), *options, "serve"], environment, errors)

    def send(self, message):
        if self.number == 1 and message.get("method") == "initialize":
            threading.Thread(target=self.listen, daemon=True).start()
        super().send(message)

    def listen(self):
        for line in self.process.stdout:
            self.answers.put(json.loads(line))
        self.answers.put(None)

    def request(self, method, params):
        with self.turn:
            self.number += 1
            try:
                self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
                until = time.monotonic() + self.patience
                while message := self.answers.get(timeout=max(0.0, until - time.monotonic())):
                    if message.get("id") == self.number:
                        return message
            except queue.Empty:
                return {"error": f"no answer in {self.patience} s"}
            except BrokenPipeError:
                pass
            return {"error": f"the server has ended ({self.process.poll()})"}

    def search(self, word):
        result = self.call("context_search", arguments(word))
        text = result["content"][0]["text"]
        return text if result.get("isError") else json.loads(text)

    def search_soon(self, word):
        """Asks without waiting, so that the server starts to write."""
        with self.turn:
            self.number += 1
            params = {"name": "context_search", "arguments": arguments(word)}
            try:
                self.send({"jsonrpc": "2.0", "id": self.number, "method": "tools/call", "params": params})
            except BrokenPipeError:
                pass  # Killed already.

    def kill(self):
        self.process.kill()
        self.process.wait()


def is_hexadecimal(name):
    """The name of a generation, or of a segment."""
    return re.fullmatch("[0-9a-f]{32}", name) is not None


def listed_segments(meta):
    """The segments of the newest commit. The list is followed by a line with its checksum."""
    return json.JSONDecoder().raw_decode(meta.read_text(encoding="utf-8"))[0]["segments"]


def arguments(word):
    return {"query": word, "format": "json", "limit": 20}


class Place:
    """A project with a separate cache, and the ways to run docent there."""

    def __init__(self, docent, folder, chance, files, functions):
        self.docent = docent
        self.folder = folder
        self.root = folder / "project"
        self.cache = folder / "cache"
        self.errors = open(folder / "stderr", "ab")
        self.project = Project(self.root, chance, files, functions)

    def environment(self, cache=None):
        own = {"HOME": str(self.folder), "XDG_CACHE_HOME": str(cache or self.cache), "XDG_CONFIG_HOME": str(self.folder)}
        return {**os.environ, **own}

    def server(self, *settings):
        return Client(self.docent, self.root, self.environment(), self.errors, *settings)

    def spawn(self, *words):
        command = [self.docent, "--root", str(self.root), *words]
        return subprocess.Popen(command, env=self.environment(), stdout=subprocess.DEVNULL, stderr=self.errors)

    def run(self, *words, cache=None):
        command = [self.docent, "--root", str(self.root), *words]
        return subprocess.run(command, env=self.environment(cache), capture_output=True, text=True, timeout=120, check=False)

    def search(self, word):
        """Searches by command line, in a new process."""
        run = self.run("search", word, "--json", "--format", "json", "--limit", "20")
        return json.loads(run.stdout) if run.returncode == 0 else f"{run.returncode}: {run.stdout} {run.stderr}"

    def status(self, cache=None):
        run = self.run("status", "--json", cache=cache)
        if run.returncode != 0:
            return {"pending": -1, "chunks": -1, "troubles": [f"status: {run.returncode} {run.stderr}"]}
        return json.loads(run.stdout)

    def chunks_rebuilt(self):
        """The number of chunks of an index that is built from nothing."""
        cache = self.folder / "other cache"
        shutil.rmtree(cache, ignore_errors=True)
        self.run("index", cache=cache)
        return self.status(cache)["chunks"]

    def panics(self):
        self.errors.flush()
        text = (self.folder / "stderr").read_text(encoding="utf-8", errors="replace")
        return [line for line in text.splitlines() if "panicked" in line]

    def on_disk(self):
        """The files of the cache. `orphans` are files of segments that the newest commit does not list."""
        found = collections.Counter(bytes=0, files=0, generations=0, orphans=0, orphan_bytes=0, fences=0)
        # The segments that each generation lists, by folder.
        known = {}
        for meta in self.cache.rglob("meta.json"):
            # Another process may be deleting it at this moment.
            with contextlib.suppress(FileNotFoundError):
                segments = listed_segments(meta)
                known[meta.parent] = {segment["segment_id"].replace("-", "") for segment in segments}
        for path in self.cache.rglob("*"):
            with contextlib.suppress(FileNotFoundError):
                if path.is_dir():
                    found["generations"] += is_hexadecimal(path.name)
                    continue
                size = path.stat().st_size
                orphan = is_hexadecimal(path.stem.partition(".")[0]) and path.name[:32] not in known.get(path.parent, ())
                found.update(bytes=size, files=1, orphans=orphan, orphan_bytes=size * orphan, fences=path.parent.name == "watch")
        return dict(found)

    def generation_folder(self):
        """The folder of the generation in use."""
        current = next(path for path in self.cache.rglob("current") if path.parent.name.startswith("index-"))
        return current.parent / current.read_text(encoding="ascii")

    def generation(self):
        return self.generation_folder().name

    def holds_lock(self, process):
        """Whether a process holds the writer lock. `None` if that cannot be seen."""
        try:
            locks = pathlib.Path("/proc/locks").read_text(encoding="ascii")
        except OSError:
            return None
        inodes = {str(file.stat().st_ino) for file in self.cache.rglob("writer.lock")}
        # 1: FLOCK ADVISORY WRITE 4242 fd:00:131 0 EOF
        held = (line.split() for line in locks.splitlines() if "FLOCK" in line and "->" not in line)
        return any(words[4] == str(process.pid) and words[5].rpartition(":")[2] in inodes for words in held)


class Tally:
    """Counts answers and failures, from any thread."""

    def __init__(self, bound, expects_damage=False):
        self.bound = bound
        self.expects_damage = expects_damage
        self.guard = threading.Lock()
        self.counts = collections.Counter(asked=0, right=0, late=0, wrong=0, errors=0, lock_errors=0, never=0)
        self.notices = collections.Counter()
        self.times = []
        self.settled = []
        self.failures = []
        self.said = set()

    def fail(self, what, **details):
        with self.guard:
            self.failures.append({"what": what, **details})

    def fail_once(self, what, text, **context):
        """A damage report is a failure, because nothing is damaged here. Repeated reports count once."""
        with self.guard:
            known = (what, text) in self.said
            self.said.add((what, text))
        if not known:
            self.fail(what, text=text, **context)

    def judge(self, answer, word, path):
        """`right`, or the kind of error, with the answer."""
        if isinstance(answer, str):
            return "errors", answer
        paths = sorted({found["path"] for found in answer["results"]})
        notice = answer.get("notice")
        # A chunk may be found by the heading above it, and not contain the word itself.
        shown = any(word in found["content"] for found in answer["results"])
        if paths == ([path] if path else []) and shown == bool(path):
            return "right", notice
        said = {"found": paths, "notice": notice}
        return ("late" if notice else "wrong"), said

    def ask(self, search, word, path, **context):
        """Repeats a search until the answer is right, and counts the first answer. Returns the seconds until then."""
        began = time.perf_counter()
        first = None
        while True:
            started = time.perf_counter()
            answer = search(word)
            took = time.perf_counter() - started
            verdict, said = self.judge(answer, word, path)
            with self.guard:
                self.counts["asked"] += 1
                self.times.append(took)
                if verdict == "errors":
                    self.counts["lock_errors"] += bool(re.search("lock|busy", said, re.IGNORECASE))
                elif answer.get("notice"):
                    self.notices[re.sub(r"\d[\d,]*", "N", answer["notice"])] += 1
                if first is None:
                    self.counts[verdict] += 1
            if verdict != "errors" and "damaged" in (answer.get("notice") or "") and not self.expects_damage:
                self.fail_once("damage", answer["notice"], **context)
            first = first or (verdict, said)
            waited = time.perf_counter() - began
            if verdict == "right" or waited > self.bound:
                break
            time.sleep(0.05)
        if verdict != "right":
            with self.guard:
                self.counts["never"] += 1
        elif first[0] == "late":
            with self.guard:
                self.settled.append(waited)
        if verdict != "right" or first[0] in ("wrong", "errors"):
            healed = round(waited, 3) if verdict == "right" else None
            self.fail(first[0], word=word, path=path, said=first[1], right_after=healed, last=said, **context)
        return waited

    def summary(self):
        ordered = sorted(self.times) or [0]
        return {
            **self.counts,
            "notices": dict(self.notices),
            "median_seconds": round(ordered[len(ordered) // 2], 4),
            "p99_seconds": round(ordered[int(0.99 * (len(ordered) - 1))], 3),
            "slowest_seconds": round(ordered[-1], 3),
            "slowest_until_right_after_late": round(max(self.settled, default=0), 3),
        }


def checked_status(place, tally, **context):
    """Checks `docent status` after all answers were right: nothing pending, no trouble."""
    status = place.status()
    unsettled = status["pending"]
    if unsettled:
        # A file that was read just after a change is checked once more; that is not an error.
        time.sleep(0.1)
        place.search(LANDMARK)
        status = place.status()
        if status["pending"]:
            tally.fail("pending", first=unsettled, then=status["pending"], **context)
    for trouble in status["troubles"]:
        tally.fail_once("trouble", trouble, **context)
    return status, unsettled


def crowd(options, folder, chance):
    place = Place(options.docent, folder, chance, options.files, functions=4)
    project, tally = place.project, Tally(options.bound)
    # The project first: eight servers that start without any index are part of the test.
    servers = [place.server() for _ in range(SERVERS)]
    for server in servers:
        tally.ask(server.search, LANDMARK, "landmark/fixed.py", after="start")
    before, until = place.on_disk(), time.monotonic() + options.seconds

    def loop(number):
        """Each loop has its own file, so that no other thread changes the text it searches for."""
        own, mine = random.Random(options.seed + number), f"loop/own{number}.py"
        while time.monotonic() < until:
            tally.ask(place.search, LANDMARK, "landmark/fixed.py", by="loop", after="nothing")
            word = "zx" + "".join(own.choices(string.ascii_lowercase, k=12))
            (project.root / mine).parent.mkdir(exist_ok=True)
            (project.root / mine).write_text(f"# {word}\ndef own_{number}():\n    pass\n", encoding="utf-8")
            tally.ask(place.search, word, mine, by="loop", after="change")

    loops = [threading.Thread(target=loop, args=(number,)) for number in range(LOOPS)]
    for thread in loops:
        thread.start()
    changes, grown = collections.Counter(), None
    while time.monotonic() < until:
        # Only in the last third: a rebuild also removes the leftovers of other processes.
        may_renew = time.monotonic() > until - options.seconds / 3
        grown = grown or (place.on_disk() if may_renew else None)
        if may_renew and chance.random() < 0.07:
            kind = chance.choice(("index --force", "clear"))
            # Ask while it is at work, and once more when it is done.
            process, checks = place.spawn(*kind.split()), project.known(3)
            for word, path in checks:
                everyone(servers, tally, word, path, after=f"{kind} begun", step=sum(changes.values()))
            if code := process.wait():
                tally.fail("command", code=code, after=kind, step=sum(changes.values()))
        elif chance.random() < 0.1:
            kind, checks = "change many", project.change_many(chance.sample(sorted(project.words), 25))
        else:
            kind, checks = project.random_change()
        changes[kind] += 1
        step = sum(changes.values())
        number = chance.randrange(SERVERS)
        for word, path in checks:
            tally.ask(servers[number].search, word, path, by=f"server {number}", after=kind, step=step)
        if step % 5 == 0:
            everyone(servers, tally, *chance.choice(checks), after=kind, step=step)
        if step % 20 == 0:
            # Replace a server: others read the open index while it is written.
            servers[number].close()
            servers[number] = place.server()
            tally.ask(servers[number].search, *checks[0], by=f"new server {number}", after=kind, step=step)
            # Change a file between the first scan of the new server and the start of its watcher.
            servers[number].close()
            servers[number] = place.server()
            time.sleep(chance.random() * 0.06)
            checks = project.change()
            time.sleep(chance.choice((0, 0.5)))
            for word, path in checks:
                tally.ask(servers[number].search, word, path, by=f"new server {number}", after="change at its start", step=step)
        if step % 25 == 0:
            for trouble in place.status()["troubles"]:
                tally.fail_once("trouble", trouble, after=kind, step=step)
        time.sleep(chance.random() * 0.2)
    for thread in loops:
        thread.join()
    for path in chance.sample(sorted(project.words), 20):
        everyone(servers, tally, project.words[path], path, after="everything")
        tally.ask(place.search, project.words[path], path, by="command line", after="everything")
    status, unsettled = checked_status(place, tally, after="everything")
    if status["chunks"] != (rebuilt := place.chunks_rebuilt()):
        tally.fail("chunks", indexed=status["chunks"], rebuilt=rebuilt)
    for server in servers:
        server.close()
    return {
        "changes": dict(changes),
        **tally.summary(),
        "status": {key: status[key] for key in ("files", "pending", "chunks", "troubles")} | {"pending_at_first": unsettled},
        "on_disk": {"start": before, "before the first rebuild": grown, "end": place.on_disk()},
        "panics": place.panics(),
        "failures": tally.failures,
    }


def everyone(servers, tally, word, path, **context):
    """Asks all servers at the same time."""
    threads = [
        threading.Thread(target=tally.ask, args=(server.search, word, path), kwargs={"by": f"server {number} of all", **context})
        for number, server in enumerate(servers)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def kill(options, folder, chance):
    # Enough files for more than one commit.
    place = Place(options.docent, folder, chance, 5 * options.files, functions=25)
    tally = Tally(options.bound)
    started = time.perf_counter()
    place.run("index")
    build = time.perf_counter() - started
    # A kill after the work has ended would interrupt nothing.
    window = min(options.window / 1e3, 1.25 * build)
    before = place.on_disk()
    survivor, rounds = None, []
    for number in range(options.rounds):
        who = SURVIVORS[number // BLOCK % len(SURVIVORS)]
        if number % BLOCK == 0:
            if survivor:
                survivor.close()
            survivor = None
            if who != SURVIVORS[2]:
                survivor = place.server(f"index.watch={'true' if who == SURVIVORS[0] else 'false'}")
                tally.ask(survivor.search, LANDMARK, "landmark/fixed.py", round=number, by=who, after="start")
        # Generations change early, and that is soon over.
        moment = chance.uniform(0, window / 10 if chance.random() < 0.25 else window)
        victim = KILLED[number % 2 + (2 if number >= options.rounds // 2 else 0)]
        # A commit is so short that a random moment seldom hits it.
        aimed = victim in KILLED[:2] and chance.random() < 0.4
        context = {"round": number, "by": who, "killed": victim, "at_ms": None if aimed else round(moment * 1e3)}
        seen, checks = killed_at(place, victim, None if aimed else moment)
        context |= {"held_lock": seen["held"], "cut_a_commit": seen["cut"]}
        search = survivor.search if survivor else place.search
        checks.append((LANDMARK, "landmark/fixed.py"))
        began = time.perf_counter()
        for word, path in checks:
            if tally.ask(search, word, path, **context) > options.bound:
                # The missing answer is reported; further ones would be missing too.
                break
        right = time.perf_counter() - began
        status, unsettled = checked_status(place, tally, **context)
        if (number + 1) % COMPARED == 0 and status["chunks"] != (rebuilt := place.chunks_rebuilt()):
            tally.fail("chunks", indexed=status["chunks"], rebuilt=rebuilt, **context)
        rounds.append({**context, "ended_before": seen["ended"], "right_after": round(right, 3), "pending_at_first": unsettled})
        rounds[-1]["on_disk"] = place.on_disk()
        if sys.stderr.isatty() or (number + 1) % 25 == 0:
            print(f"round {number + 1}: {len(tally.failures)} failures", file=sys.stderr)
    if survivor:
        survivor.close()
    after = place.on_disk()
    place.run("index", "--force")
    return {
        "rounds": len(rounds),
        "build_seconds": round(build, 2),
        "window_seconds": round(window, 2),
        "killed_while_holding_the_lock": sum(bool(one["held_lock"]) for one in rounds),
        "aimed_at_a_commit": sum(one["at_ms"] is None for one in rounds),
        "cut_a_commit": sum(one["cut_a_commit"] for one in rounds),
        "ended_before_the_kill": sum(one["ended_before"] for one in rounds),
        "slowest_until_all_right": max((one["right_after"] for one in rounds), default=0),
        "rounds_with_pending_at_first": sum(one["pending_at_first"] > 0 for one in rounds),
        **tally.summary(),
        "on_disk": {
            "start": before,
            "most": max((one["on_disk"] for one in rounds), key=lambda one: one["bytes"], default=before),
            "after half": rounds[len(rounds) // 2 - 1]["on_disk"] if len(rounds) > 1 else before,
            "end": after,
            "rebuilt": place.on_disk(),
        },
        "panics": place.panics(),
        "failures": tally.failures,
        "each": rounds,
    }


def corrupt(options, folder, chance):
    # Enough chunks for files that are read in parts.
    place = Place(options.docent, folder, chance, options.files, functions=25)
    project, tally = place.project, Tally(options.bound, expects_damage=True)
    watching = {"server that watches": "true", "server that looks when asked": "false"}
    servers = {name: place.server(f"index.watch={watch}") for name, watch in watching.items()}
    deaths, kinds, rebuilt, rounds = [], collections.Counter(), 0, []
    for number in range(options.corruptions):
        for server in servers.values():
            server.search(LANDMARK)
        generation = place.generation()
        kind, files = damage(place, chance)
        kinds[kind] += 1
        checks = project.change() if chance.random() < 0.5 else []
        checks += project.known(3) + [(LANDMARK, "landmark/fixed.py")]
        context = {"round": number, "after": kind, "files": files}
        began = time.perf_counter()
        for name, server in servers.items():
            for word, path in checks:
                tally.ask(server.search, word, path, by=name, **context)
            if (code := server.process.poll()) is not None:
                deaths.append({"by": name, "code": code, **context})
                servers[name] = place.server(f"index.watch={watching[name]}")
        tally.ask(place.search, *checks[0], by="new process", **context)
        rebuilt += place.generation() != generation
        rounds.append({**context, "right_after": round(time.perf_counter() - began, 3)})
        if (number + 1) % 25 == 0:
            print(f"round {number + 1}: {len(tally.failures)} failures, {len(deaths)} deaths", file=sys.stderr)
    status = place.status()
    if status["chunks"] != (from_nothing := place.chunks_rebuilt()):
        tally.fail("chunks", indexed=status["chunks"], rebuilt=from_nothing)
    for server in servers.values():
        server.close()
    for death in deaths:
        tally.fail("death", **death)
    return {
        "rounds": len(rounds),
        "deaths": len(deaths),
        "kinds": dict(kinds),
        "rounds_with_a_rebuild": rebuilt,
        "slowest_until_all_right": max((one["right_after"] for one in rounds), default=0),
        **tally.summary(),
        "panics": [],
        "panics_caught": len(place.panics()),
        "failures": tally.failures,
        "each": rounds,
    }


def damage(place, chance):
    """Damages one file of the index in use, or all of one segment. Returns how, and the names."""
    files = sorted(path for path in place.generation_folder().rglob("*") if path.is_file() and path.suffix != ".lock")
    one = chance.choice([path for path in files if path.stat().st_size > 0])
    chosen = [one]
    if is_hexadecimal(one.name[:32]) and chance.random() < 0.3:
        chosen = [path for path in files if path.parent == one.parent and path.name[:32] == one.name[:32]]
    kind = chance.choice(("emptied", "truncated", "zeroed", "flipped", "deleted"))
    for path in chosen:
        with contextlib.suppress(FileNotFoundError):
            if kind == "deleted":
                path.unlink()
                continue
            size = path.stat().st_size
            with open(path, "r+b") as file:
                if kind == "emptied":
                    file.truncate(0)
                elif kind == "truncated":
                    file.truncate(chance.randrange(max(1, size)))
                elif kind == "zeroed":
                    at = chance.randrange(max(1, size))
                    file.seek(at)
                    file.write(bytes(min(4096, size - at)))
                else:
                    for _ in range(8):
                        at = chance.randrange(max(1, size))
                        file.seek(at)
                        byte = file.read(1)
                        file.seek(at)
                        file.write(bytes([byte[0] ^ (1 << chance.randrange(8))]) if byte else b"")
    return kind, [path.name for path in chosen]


def killed_at(place, victim, moment):
    """Makes a process write, and kills it at `moment`, or as soon as a commit begins if that is `None`. Returns the state it was
    in (whether it held the lock, had ended, or was interrupted in a commit), and the checks that a search must pass now."""
    project = place.project
    everything = sorted(project.words)
    if moment is None:
        # Few enough for one commit, so that the next process repeats exactly the same.
        everything = project.chance.sample(everything, min(60, len(everything)))
    # If files change, a watching server opens the index again as well. If none does, only the index has changed.
    few = project.chance.sample(everything, 5) if project.chance.random() < 0.5 else []
    checks = []
    if victim == "index --force":
        if few:
            checks += project.change_many(few) + project.delete() + project.rename()
        process = place.spawn("index", "--force")
    elif victim == "new server":
        checks += project.change_many(everything)
        server = place.server()
        server.search_soon(LANDMARK)
        process = server.process
    elif victim == "server while files change":
        server = place.server()
        server.search(LANDMARK)
        process = server.process
    else:
        if few:
            checks += project.change_many(few) + project.create()
        place.run("clear")
        process = place.spawn("index")
    seen = {}
    before = {meta.parent: deletions(meta.parent) for meta in place.cache.rglob("meta.json")}

    def strike():
        if moment is None:
            wait_for_commit(before)
        else:
            time.sleep(moment)
        seen["ended"] = process.poll() is not None
        # A look at the folder takes longer than a commit.
        seen["held"] = True if moment is None else place.holds_lock(process)
        process.kill()

    striker = threading.Thread(target=strike)
    striker.start()
    if victim == "server while files change":
        half = len(everything) // 2
        checks += project.change_many(everything[:half])
        server.search_soon(LANDMARK)
        checks += project.change_many(everything[half:])
    striker.join()
    process.wait()
    seen["cut"] = any(deletions(folder) - committed(folder) - known for folder, known in before.items())
    return seen, project.now(checks) + project.known(3)


def wait_for_commit(before):
    """A commit first writes the deletions, in separate files, and last the list of its segments."""
    until = time.monotonic() + 3
    while time.monotonic() < until and all(deletions(folder) <= known for folder, known in before.items()):
        pass


def deletions(folder):
    with contextlib.suppress(FileNotFoundError):
        return {name for name in os.listdir(folder) if name.endswith(".del")}
    return set()


def committed(folder):
    """The files of deletions that belong to the last commit."""
    with contextlib.suppress(FileNotFoundError):
        segments = listed_segments(folder / "meta.json")
        deleted = ((one["segment_id"].replace("-", ""), one["deletes"]) for one in segments)
        return {f"{segment}.{deletes['opstamp']}.del" for segment, deletes in deleted if deletes}
    return set()


def show(name, result):
    print(f"## {name}\n")
    for key, value in result.items():
        if key not in ("failures", "each", "panics"):
            print(f"- {key.replace('_', ' ')}: {json.dumps(value) if isinstance(value, dict) else value}")
    kinds = collections.Counter(
        f"{failure['what']} after {failure.get('killed') or failure.get('after')}" for failure in result["failures"]
    )
    print(f"- panics: {len(result['panics'])}\n- failures: {len(result['failures'])} {dict(kinds) or ''}")
    for failure in result["failures"][:20]:
        print(f"  - {json.dumps(failure)}")
    print()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("--part", choices=("crowd", "kill", "corrupt", "all"), default="all")
    parser.add_argument("--seconds", type=float, default=90, help="duration of the crowd")
    parser.add_argument("--rounds", type=int, default=200, help="number of kills")
    parser.add_argument("--corruptions", type=int, default=100, help="number of damaged files")
    parser.add_argument("--files", type=int, default=400, help="files of the project")
    parser.add_argument("--window", type=float, default=1500, help="the latest moment of a kill, in milliseconds")
    parser.add_argument("--bound", type=float, default=10, help="seconds within which answers must be right")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=pathlib.Path, help="file for the results, as JSON")
    parser.add_argument("--keep", action="store_true", help="do not remove the temporary folder")
    options = parser.parse_args()
    options.docent = str(pathlib.Path(options.docent).resolve())
    version = subprocess.run([options.docent, "--version"], capture_output=True, text=True, check=True).stdout.strip()
    results = {"version": version, "seed": options.seed}
    base = pathlib.Path(tempfile.mkdtemp(prefix="docent-index-"))
    try:
        for name, part in (("crowd", crowd), ("kill", kill), ("corrupt", corrupt)):
            if options.part in (name, "all"):
                folder = base / name
                folder.mkdir()
                results[name] = part(options, folder, random.Random(options.seed))
                show(name, results[name])
    finally:
        if options.keep:
            print(f"left in {base}", file=sys.stderr)
        else:
            shutil.rmtree(base, ignore_errors=True)
        if options.out:
            options.out.write_text(json.dumps(results, indent=1), encoding="utf-8")
    failed = any(results[name]["failures"] or results[name]["panics"] for name in ("crowd", "kill", "corrupt") if name in results)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
