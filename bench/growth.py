#!/usr/bin/env python3
"""How docent scales with the project: time to index and to answer, memory and disk, for 1,000 to 1,000,000 chunks.

usage: bench/growth.py --binary DOCENT --out DIR [--sizes 1000,10000,100000,1000000] [--seed S] [--work DIR]

The projects are generated, the same for the same seed: Python and Go in equal parts, twenty functions of about 400 bytes to a
file, a hundred files to a directory. Names and comments are made of 20,000 words by Zipf's law, one to three words to a name,
so that new names keep appearing, as in real code. All files are in the page cache. For each size, with a separate cache:
- `docent index` from nothing: wall, CPU (user and system), peak memory; bytes on disk as `docent status` reports them;
- start of a server to its first fresh answer on the unchanged tree, median of three starts;
- 200 different searches, two to five words drawn like those of the code, from request to answer, after 20 others;
- a function is added to a file: time until a search finds it, the save included, median of five;
- memory of the server after all that, and the part of it that is not mapped files of the index (anonymous).
Writes growth.json, growth.md and growth.svg after every size. A million chunks take 400 MB for the project and more for the
index, in --work or the directory for temporary files. Linux only: memory is read from /proc.
"""

import argparse
import itertools
import json
import keyword
import math
import os
import pathlib
import platform
import random
import statistics
import sys
import tempfile
import time

from plot import plot
from process import run
from server import Server

PER_FILE, PER_DIRECTORY, WORDS = 20, 100, 20_000
COMMON = """value name index key count node item data list path file line text state kind error result config context request
response buffer offset length size start end first last next parent child entry record table column row query token user session
cache store client server message event handler listener queue task worker job thread lock timeout limit page block chunk stream
reader writer parser format encode decode load save update remove insert merge split join match filter sort fold reduce check
validate resolve register connect close open send receive read write create delete copy move scan walk visit collect""".split()
PYTHON = '''def {0}({3}, {4}, {5}=None):
    """{1:c} {2:w} {6:w} {7:w} {8:w}."""
    {9} = {3}.{10}({4}, {5})
    {11} = {{}}
    for {12} in {9}:
        if {12}.{13} > {14}:
            {11}[{12}.{15}] = {16}({12})
    if not {11}:
        raise ValueError("{17:w} {18:w}")
    return {3}.{19}({11}, {20}={9})
'''
GO = '''// {0:C} {1:w} {2:w} {6:w} {7:w} {8:w}.
func {0:C}({3:l} *{4:C}, {5:l} string) (*{11:C}, error) {{
	{9:l}, err := {3:l}.{10:C}({5:l}, {14})
	if err != nil {{
		return nil, fmt.Errorf("{17:w} {18:w}: %w", err)
	}}
	for _, {12:l} := range {9:l} {{
		{3:l}.{16:C}({12:l}.{15:C}, {12:l}.{13:C})
	}}
	return &{11:C}{{{19:C}: {9:l}.{20:C}}}, nil
}}
'''
HEAD = "| chunks | files | source | index | index CPU | index peak memory | disk | start to fresh answer "
HEAD += "| query p50 | query p95 | save to found | memory serving | anonymous part |"
RESERVED = {*keyword.kwlist, "case", "const", "default", "defer", "func", "goto", "map", "package", "range", "select", "var"}


class Name(tuple):
    """Words that make a name: snake_case, or by its format `c`apital word, `w`ords, `C`amelCase or `l`owerCamelCase."""

    def __format__(self, form):
        if form == "c":
            return self[0].capitalize()
        if form in ("C", "l"):
            joined = "".join(map(str.capitalize, self))
            return joined if form == "C" else self[0] + joined[len(self[0]) :]
        return (" " if form == "w" else "_").join(self)


class Language:
    """Words by Zipf's law with Mandelbrot's shift: common words of programs first, then generated ones."""

    def __init__(self, seed):
        self.chance = random.Random(seed)
        starts = "b c d f g h k l m n p r s t v z br cr dr fl gr pl st tr".split()
        sounds = [start + vowel for start in starts for vowel in "aeiou"]
        words = dict.fromkeys(COMMON)
        while len(words) < WORDS + len(RESERVED):
            made = "".join(self.chance.choices(sounds, k=self.chance.choice((2, 2, 3))))
            words[made + self.chance.choice(("", "l", "n", "r"))] = None
        self.words = [word for word in words if word not in RESERVED][:WORDS]
        self.weights = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, WORDS + 1)))

    def draw(self, count):
        return self.chance.choices(self.words, cum_weights=self.weights, k=count)

    def names(self, count):
        lengths = self.chance.choices((1, 2, 3), (62, 32, 6), k=count)
        words = iter(self.draw(sum(lengths)))
        return [Name(itertools.islice(words, length)) for length in lengths]

    def function(self, form, own=None):
        names = self.names(21)
        names[0] = own or Name(names[0] + names[1])
        names[14] = self.chance.randrange(2, 1000)
        return form.format(*names)

    def rare(self):
        return self.words[self.chance.randrange(WORDS // 2, WORDS)]


def write_project(root, size, language):
    """Writes files until there are enough chunks. Returns the files and their bytes. A `package` line is one chunk."""
    files, written = [], 0
    for number in range(math.ceil(size / PER_FILE)):
        if number % PER_DIRECTORY == 0:
            place = number // PER_DIRECTORY
            if place % 20 == 0:
                top = root / f"{language.rare()}{place // 20}"
            directory = top / f"{language.rare()}{place}"
            directory.mkdir(parents=True)
        pieces, form, ending = ([f"package {top.name}\n"], GO, "go") if number % 2 else ([], PYTHON, "py")
        path = directory / f"{language.rare()}_{number}.{ending}"
        while len(pieces) < min(PER_FILE, size - number * PER_FILE):
            pieces.append(language.function(form))
        written += path.write_text("\n\n".join(pieces), "utf-8")
        files.append(path)
    return files, written


def resident(pid):
    """Memory of a process in MiB: all of it, and the anonymous part."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        sizes = dict(line.split(":", 1) for line in status)
    return [int(sizes[name].split()[0]) / 1024 for name in ("VmRSS", "RssAnon")]


def search(server, query):
    result = server.call("context_search", {"query": query, "format": "json", "limit": 5})
    assert not result.get("isError"), result
    return json.loads(result["content"][0]["text"])


def until(right, server, query, seconds=300):
    """Repeats a search until the answer is right."""
    late = time.perf_counter() + seconds
    while not right(answer := search(server, query)):
        if time.perf_counter() > late:
            sys.exit(f"not in {seconds} s: {query}; {answer.get('notice')}")


def start(command, environment, query):
    """Starts a server. Returns it, and the seconds from its start to a complete answer."""
    started = time.perf_counter()
    server = Server(command, environment)
    until(lambda answer: answer["results"] and "notice" not in answer, server, query)
    return server, time.perf_counter() - started


def added(server, path, language, number):
    """Seconds from the save of a new function to an answer that has it."""
    own = Name((language.rare(), "added", f"{language.rare()}{number}"))
    form, name = (PYTHON, f"{own}") if path.suffix == ".py" else (GO, f"{own:C}")
    text = language.function(form, own)
    started = time.perf_counter()
    with open(path, "a", encoding="utf-8") as file:
        file.write("\n\n" + text)
    until(lambda answer: any(found["name"] == name for found in answer["results"]), server, name)
    return time.perf_counter() - started


def measure(binary, folder, size, seed):
    language = Language(f"{seed} {size}")
    (folder / "project").mkdir()
    files, written = write_project(folder / "project", size, language)
    time.sleep(3)  # docent compares a file that was written just now by content.
    environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "DOCENT_LIMIT_CONTEXT_SEARCH": "0"}
    command = [binary, "--root", str(folder / "project")]
    row = {"size": size, "files": len(files), "source": written, "load": os.getloadavg()[0]}
    row["index"] = run([*command, "index"], environment)[1]
    status = json.loads(run([*command, "status", "--json"], environment)[0])
    assert status["pending"] == 0 and not status["troubles"], status
    row |= {"chunks": status["chunks"], "disk": status["bytesOnDisk"]}
    queries = list({" ".join(language.draw(language.chance.randrange(2, 6))): None for _ in range(260)})[:223]
    row["starts"], server = [], None
    for _ in range(3):
        if server:
            server.close()
        server, took = start([*command, "serve"], environment, "value " + queries.pop())
        row["starts"].append(took * 1e3)
    time.sleep(1)
    row["fresh_memory"] = resident(server.process.pid)
    times, noticed = [], 0
    for query in queries:
        started = time.perf_counter()
        noticed += "notice" in search(server, query)
        times.append((time.perf_counter() - started) * 1e3)
    times = sorted(times[20:])
    p95 = times[round(0.95 * (len(times) - 1))]
    row["query"] = {"count": len(times), "p50": statistics.median(times), "p95": p95, "max": times[-1], "noticed": noticed}
    row["saves"] = []
    for number in range(5):
        row["saves"].append(added(server, language.chance.choice(files), language, number) * 1e3)
        time.sleep(1)
    row["memory"] = resident(server.process.pid)
    server.close()
    return row


def table(rows):
    lines = [HEAD, "|" + "--:|" * (HEAD.count("|") - 1)]
    for row in rows:
        cells = [f"{row['chunks']:,}", f"{row['files']:,}", f"{row['source'] / 1e6:.1f} MB", f"{row['index']['wall']:.2f} s"]
        cells += [f"{row['index']['cpu']:.2f} s", f"{row['index']['peak']:.0f} MiB", f"{row['disk'] / 1e6:.1f} MB"]
        cells += [f"{statistics.median(row['starts']):.0f} ms", f"{row['query']['p50']:.2f} ms", f"{row['query']['p95']:.2f} ms"]
        cells += [f"{statistics.median(row['saves']):.0f} ms", *(f"{size:.0f} MiB" for size in row["memory"])]
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def chart(rows):
    def both(of, *names):
        return [(name, [row[of][name] for row in rows]) for name in names]

    memory = [("building, peak", [row["index"]["peak"] for row in rows]), ("serving", [row["memory"][0] for row in rows])]
    disk = [("index", [row["disk"] / 1e6 for row in rows]), ("source", [row["source"] / 1e6 for row in rows])]
    panels = [("Index time, s", *both("index", "wall", "cpu")), ("Query, ms", *both("query", "p50", "p95"))]
    panels += [("Memory, MiB", *memory), ("Disk, MB", *disk)]
    return plot([row["chunks"] for row in rows], panels, "By chunks in the project. Dashes: growing as the project does.")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--sizes", default="1000,10000,100000,1000000")
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--work", help="directory for projects and indexes; removed afterwards")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    about = f"{platform.machine()}, {os.cpu_count()} cores, {platform.system()} {platform.release()}; seed {options.seed}"
    binary, rows = os.path.abspath(options.binary), []
    version = run([binary, "--version"])[0].strip()
    for size in sorted(map(int, options.sizes.split(","))):
        with tempfile.TemporaryDirectory(dir=options.work) as folder:
            rows.append(measure(binary, pathlib.Path(folder), size, options.seed))
        print(f"{size:,} chunks: load {rows[-1]['load']:.1f}", file=sys.stderr)
        written = {"json": json.dumps({"about": about, "version": version, "rows": rows}, indent=1) + "\n", "svg": chart(rows)}
        written["md"] = f"# Growth\n\n{version}; {about}\n\n{table(rows)}"
        for ending, text in written.items():
            (options.out / f"growth.{ending}").write_text(text, "utf-8")
    print(table(rows), end="")


if __name__ == "__main__":
    main()
