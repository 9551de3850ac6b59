#!/usr/bin/env python3
"""Whether the project's memory keeps every acknowledged entry while many servers append to it, are killed, or the disk is full.

usage: bench/memory_crash.py DOCENT [--part append|full-disk|all] [--entries 1000] [--kills 100] [--cuts 30] [--seed 1]

append: 16 servers append to the three files of one project at once, each 1,000 entries, some near the largest size, while
servers are killed with SIGKILL. Half of the kills are aimed at the holder of the lock, which Linux shows in /proc/locks. A
killed server is started again and goes on with the next entry; nothing is sent twice. A kill seldom falls into the one write of
an entry, so afterwards some servers are ended by the limit of a file's size in the middle of it (`cuts`, on Linux), and each
time another appends next. In the end every acknowledged entry must be present once, every other one at most once and whole, and
nothing else; `origins.jsonl` must have a line for each acknowledged entry; and after one more entry by command line no
journal may be left.

full-disk: a project on a small tmpfs, which needs root on Linux. A filler leaves room for no page, for one, for two and so on, so
that writing fails at each step of an append; then entries fill the rest. A refused call must be an error with the code
500, and must leave the files as they were, to the byte, and no journal. With the filler gone, the next entries must be written.

Everything lies in a temporary folder. Each part ends with one line of figures; the exit code is 1 if a check failed.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import dataclasses
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import tempfile
import time

from server import Server

SERVERS = 16
FILES = ("progress_log.jsonl", "decisions.jsonl", "best_practices.md")
# A server gives up waiting for others after 30 seconds, so one that is silent for longer has failed.
PATIENCE = 90
DISK = 1 << 20
WORDS = "the index größe keeps naïve rows — of what was read before and after each café commit settles".split()


@dataclasses.dataclass
class Entry:
    name: str
    file: str
    text: str
    writer: str | None = None
    state: str = "unknown"


def make(name, file, chance, large=None):
    """A unique entry: one line of JSON, or some lines of markdown without a blank one."""
    large = chance.random() < 0.15 if large is None else large
    size, words = chance.randrange(9_000, 10_100) if large else chance.randrange(40, 600), []
    while size > 0:
        words.append(chance.choice(WORDS))
        size -= len(words[-1].encode()) + 1
    if file.endswith(".jsonl"):
        return Entry(name, file, json.dumps({"id": name, "note": " ".join(words)}, ensure_ascii=False))
    return Entry(name, file, "\n".join([f"## {name}", *(" ".join(words[at : at + 12]) for at in range(0, len(words), 12))]))


class Gone(Exception):
    """The server has ended."""


class Writer(Server):
    """A server that may end at any moment."""

    def __init__(self, place, name):
        self.name, self.since = name, time.monotonic()
        super().__init__([place.docent, "--root", str(place.root), "serve"], place.environment, place.errors)

    def request(self, method, params):
        if method == "initialize":
            # The origins have the name of the client.
            params |= {"protocolVersion": "2025-11-25", "clientInfo": {"name": self.name, "version": "0"}}
        self.number, self.since = self.number + 1, time.monotonic()
        with contextlib.suppress(BrokenPipeError):
            self.send({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
            # Half a line is not an answer.
            while (line := self.process.stdout.readline()).endswith(b"\n"):
                if (message := json.loads(line)).get("id") == self.number:
                    return message
        raise Gone

    def append(self, entry):
        """Appends an entry. Returns whether it was acknowledged, and the answer."""
        result = self.call("write_memory_entry", {"file": entry.file, "entry": entry.text})
        answer = json.loads(result["content"][0]["text"])
        return not result.get("isError") and answer.get("success") is True, answer

    def close(self):
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


class Place:
    """A project with a separate home, and all entries sent to it."""

    def __init__(self, docent, folder, root):
        self.docent, self.root, self.memory = docent, root, root / ".context" / "memory"
        self.root.mkdir()
        self.errors = open(folder / "stderr", "ab")
        homes = {f"XDG_{kind}_HOME": str(folder / kind) for kind in ("CACHE", "CONFIG", "STATE", "DATA")}
        self.environment = {**os.environ, "HOME": str(folder), **homes, "DOCENT_MEMORY_APPROVAL": "never"}
        self.sent, self.failures, self.slowest = [], [], 0

    def fail(self, what, said=""):
        self.failures.append(f"{what}: {str(said)[:300]}")

    def send(self, writer, entry):
        """Sends an entry and records the outcome. Returns whether the server is still running."""
        entry.writer = writer.name
        self.sent.append(entry)
        try:
            written, answer = writer.append(entry)
        except Gone:
            writer.close()
            return False
        entry.state = "acknowledged" if written else "refused"
        self.slowest = max(self.slowest, time.monotonic() - writer.since)
        if not written:
            self.fail(f"{entry.name} was refused", answer)
        return True

    def read(self, name):
        file = self.memory / name
        return file.read_bytes() if file.exists() else b""

    def holder(self, writers):
        """The server that holds the lock; `None` if that is not seen soon."""
        pids, until = {str(writer.process.pid): writer for writer in writers}, time.monotonic() + 0.05
        while sys.platform == "linux" and time.monotonic() < until:
            with contextlib.suppress(FileNotFoundError):
                inode = f":{(self.memory / '.journal').stat().st_ino}"
                # 1: FLOCK ADVISORY WRITE 4242 fd:00:131 0 EOF
                for words in map(str.split, pathlib.Path("/proc/locks").read_text(encoding="ascii").splitlines()):
                    if words[5].endswith(inode) and words[4] in pids:
                        return pids[words[4]]
        return None

    def finish(self):
        """The result of the part, after all servers have ended."""
        self.errors.close()
        for line in pathlib.Path(self.errors.name).read_text(encoding="utf-8", errors="replace").splitlines():
            if "panicked" in line:
                self.fail("panic", line)
        return self.failures


def work(place, number, options, live):
    """One of the concurrent writers."""
    chance, lives = random.Random(f"{options.seed} {number}"), 0
    for count in range(options.entries):
        entry = make(f"w{number}-{count}", FILES[(number + count) % len(FILES)], chance)
        if number not in live:
            lives += 1
            live[number] = Writer(place, f"w{number} life {lives}")
        if not place.send(live[number], entry):
            del live[number]
    if writer := live.pop(number, None):
        writer.close()


def crowd(place, options, chance):
    """Makes all servers append, and kills some, spread over the entries. Returns the kills, and how many hit the holder of the lock."""
    live, kills, held = {}, 0, 0
    due = sorted(chance.sample(range(SERVERS * options.entries), options.kills), reverse=True)
    with concurrent.futures.ThreadPoolExecutor(SERVERS) as pool:
        workers = [pool.submit(work, place, number, options, live) for number in range(SERVERS)]
        while not all(worker.done() for worker in workers):
            time.sleep(chance.uniform(0, 0.003))
            writers = list(live.copy().values())
            for writer in writers:
                if time.monotonic() - writer.since > PATIENCE:
                    place.fail("no answer", writer.name)
                    writer.process.kill()
            if due and len(place.sent) >= due[-1] and writers:
                due.pop()
                holder = place.holder(writers) if chance.random() < 0.5 else None
                (holder or chance.choice(writers)).process.kill()
                kills, held = kills + 1, held + bool(holder)
        for worker in workers:
            worker.result()
    return kills, held


def cut(place, options, chance):
    """Servers that end when a part of an entry is written, and one that goes on. Returns how often half an entry was in the file."""
    torn, survivor = 0, Writer(place, "survivor")
    for number in range(options.cuts if sys.platform == "linux" else 0):
        import resource  # Not on every platform.

        entry = make(f"cut{number}", FILES[1 + number % 2], chance, large=True)
        victim = Writer(place, entry.name)
        length = len(place.read(entry.file)) + chance.randrange(1, len(entry.text.encode()))
        resource.prlimit(victim.process.pid, resource.RLIMIT_CORE, (0, 0))
        resource.prlimit(victim.process.pid, resource.RLIMIT_FSIZE, (length, length))
        if place.send(victim, entry):
            victim.close()
        torn += len(place.read(entry.file)) == length
        if not place.send(survivor, make(f"after{number}", chance.choice(FILES), chance)):
            sys.exit("the server that nobody killed has ended")
    survivor.close()
    return torn


def check(place):
    """Compares the files with the entries sent. Returns the unacknowledged entries that are present, and the torn origins."""
    present, noted, torn = collections.Counter(), collections.defaultdict(set), 0
    known = {(entry.file, entry.text.encode()): entry.name for entry in place.sent}
    for file in FILES:
        content = place.read(file)
        if not content.endswith(b"\n"):
            place.fail(f"{file} does not end with a whole line", content[-80:])
        for part in content.removesuffix(b"\n").split(b"\n" if file.endswith(".jsonl") else b"\n\n"):
            if name := known.get((file, part)):
                present[name] += 1
            else:
                place.fail(f"{file} has what nobody sent", f"{len(part)} bytes, {part[:80]} … {part[-80:]}")
    allowed = {"acknowledged": (1,), "unknown": (0, 1), "refused": (0,)}
    for entry in place.sent:
        if present[entry.name] not in allowed[entry.state]:
            place.fail(f"{entry.name} was {entry.state}", f"it is there {present[entry.name]} times")
    for line in place.read("origins.jsonl").split(b"\n")[:-1]:
        try:
            origin = json.loads(line)
            noted[origin.get("client"), origin["file"]].add(origin["entry"])
        except (ValueError, KeyError, TypeError, AttributeError):
            torn += 1
    # The origins have only a hash of each entry, so they are counted for each server; at most the last of a server is in doubt.
    done = collections.Counter((entry.writer, entry.file) for entry in place.sent if entry.state == "acknowledged")
    for key, count in done.items():
        if len(noted[key]) < count:
            place.fail("origins.jsonl lacks lines", f"{len(noted[key])} for {count} entries of {key}")
    if others := {path.name for path in place.memory.iterdir()} - {*FILES, "origins.jsonl"}:
        place.fail("left beside the files", sorted(others))
    return sum(present[entry.name] for entry in place.sent if entry.state == "unknown"), torn


def append(options, folder, chance):
    place = Place(options.docent, folder, folder / "project")
    began = time.perf_counter()
    kills, held = crowd(place, options, chance)
    seconds = time.perf_counter() - began
    rate = sum(entry.state == "acknowledged" for entry in place.sent) / seconds
    torn = cut(place, options, chance)
    last = make("last", "decisions.jsonl", chance, large=False)
    place.sent.append(last)
    command = [place.docent, "--root", str(place.root), "memory", "add", last.file, last.text, "--json"]
    run = subprocess.run(command, env=place.environment, capture_output=True, text=True, timeout=PATIENCE, check=False)
    last.state = "acknowledged" if run.returncode == 0 and json.loads(run.stdout)["success"] else "refused"
    if last.state == "refused":
        place.fail("memory add", run.stdout + run.stderr)
    there, torn_origins = check(place)
    states = collections.Counter(entry.state for entry in place.sent)
    return place.finish(), (
        f"{SERVERS} servers, {len(place.sent)} entries sent, {states['acknowledged']} acknowledged, {states['refused']} refused, "
        f"{states['unknown']} unacknowledged of which {there} present; {seconds:.1f} s, {rate:.0f} appends per second, "
        f"the slowest {place.slowest:.2f} s; {kills} kills, {held} seen with the lock; {torn} entries cut in half; "
        f"{torn_origins} torn origins"
    )


def full_disk(options, folder, chance):
    disk = folder / "disk"
    disk.mkdir()
    if sys.platform != "linux" or os.geteuid() != 0:
        return [], "skipped, since only root can mount a tmpfs, and only on Linux"
    command = ["mount", "-t", "tmpfs", "-o", f"size={DISK}", "tmpfs", disk]
    if (mount := subprocess.run(command, capture_output=True, text=True, check=False)).returncode != 0:
        return [], f"skipped, since no tmpfs can be mounted: {mount.stderr.rpartition(': ')[2].partition('.')[0]}"
    try:
        return fill(Place(options.docent, folder, disk / "project"), disk / "filler", chance)
    finally:
        subprocess.run(["umount", disk], check=True)


def fill(place, filler, chance):
    writer, counts, page = Writer(place, "only"), collections.Counter(), os.sysconf("SC_PAGE_SIZE")

    def leave(pages):
        """Leaves this much space on the disk."""
        free = os.statvfs(filler.parent).f_bavail * os.statvfs(filler.parent).f_frsize
        size = (filler.stat().st_size if filler.exists() else 0) + free - pages * page
        filler.write_bytes(bytes(max(0, size)))

    def files():
        """All files but the origins, which may list an entry that is missing."""
        return {path.name: path.read_bytes() for path in place.memory.glob("*") if path.name != "origins.jsonl"}

    def attempt(file, large=True):
        """Appends one entry and checks the files. Returns whether it was written."""
        entry = make(f"d{counts.total()}", file, chance, large)
        before = files()
        written, answer = writer.append(entry)
        after = files()
        counts[written] += 1
        if not written and answer.get("code") != 500:
            place.fail(f"{entry.name} was refused otherwise", answer)
        new = after.get(file, b"").removeprefix(before.get(file, b""))
        if written and new.strip() == entry.text.encode():
            before[file] = before.get(file, b"") + new
        if after != before:
            changed = [name for name in {**before, **after} if before.get(name) != after.get(name)]
            place.fail(f"{entry.name} has changed {changed}", answer)
        return written

    # At first the files do not exist yet.
    for pages in range(10):
        for file in FILES:
            for large in (False, True):
                leave(pages)
                if attempt(file, large) and pages == 0 and large:
                    place.fail("a large entry was written where there was no room", file)
    filler.write_bytes(bytes(16 * page))
    while all(map(attempt, FILES)):
        pass
    for file in FILES * 4:
        attempt(file)
    filler.unlink()
    if not all(map(attempt, FILES)):
        place.fail("nothing is written though there is room again")
    writer.close()
    return place.finish(), f"{counts[True]} entries written, {counts[False]} refused"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("--part", choices=("append", "full-disk", "all"), default="all")
    parser.add_argument("--entries", type=int, default=1000, help="entries sent to each server")
    parser.add_argument("--kills", type=int, default=100, help="number of kills")
    parser.add_argument("--cuts", type=int, default=30, help="number of servers that end in the middle of an entry")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", action="store_true", help="do not remove the temporary folder")
    options = parser.parse_args()
    options.docent = str(pathlib.Path(options.docent).resolve())
    print(subprocess.run([options.docent, "--version"], capture_output=True, text=True, check=True).stdout.strip())
    base, failed = pathlib.Path(tempfile.mkdtemp(prefix="docent-memory-")), False
    try:
        for name, part in (("append", append), ("full-disk", full_disk)):
            if options.part in (name, "all"):
                (base / name).mkdir()
                failures, line = part(options, base / name, random.Random(options.seed))
                print(f"{name}: {line}; {len(failures)} failures", *failures[:20], sep="\n  - ", flush=True)
                failed |= bool(failures)
    finally:
        if options.keep:
            print(f"left in {base}", file=sys.stderr)
        else:
            shutil.rmtree(base, ignore_errors=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
