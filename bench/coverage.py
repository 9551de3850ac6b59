#!/usr/bin/env python3
"""The coverage tools on a long LCOV report, beside a plain read of the file and beside other parsers.

usage: bench/coverage.py DOCENT [--megabytes 50] [--seed 4] [--rounds 9] [--peer]

The report is generated, the same for the same seed, and in the page cache. In every round each reader gets its turn, so that load on the
machine hits all of them. CPU time is user and system: of docent from request to answer, of other programs from start to end.
--peer adds the crate `lcov` and the npm package `lcov-parse`, which are built in the user's cache. Linux only: memory is read from /proc.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile
import time

from server import Server

PIECE = 128 << 10
REPORT = {"lcovPath": "lcov.info"}
CARGO = """package = { name = "peer", version = "0.0.0", edition = "2021" }
dependencies = { lcov = "0.8" }
workspace = {}
"""
# The peers print seconds, lines hit, and the peak of memory in kilobytes. They free nothing, because that would take time.
RUST = r"""
use lcov::{Reader, Record, Report};
fn main() {
    let words: Vec<String> = std::env::args().collect();
    let started = std::time::Instant::now();
    let file = std::fs::File::open(&words[2]).unwrap();
    let reader = Reader::new(std::io::BufReader::with_capacity(128 << 10, file));
    let hit = if words[1] == "reader" {
        reader.filter(|record| matches!(record.as_ref().unwrap(), Record::LineData { count, .. } if *count > 0)).count()
    } else {
        let report = std::mem::ManuallyDrop::new(Report::from_reader(reader).unwrap());
        report.sections.values().flat_map(|file| file.lines.values()).filter(|line| line.count > 0).count()
    };
    let took = started.elapsed().as_secs_f64();
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let peak = status.lines().find(|line| line.starts_with("VmHWM")).unwrap().split_whitespace().nth(1).unwrap();
    println!("{took} {hit} {peak}");
}
"""
NODE = r"""
const started = performance.now();
require("lcov-parse")(process.argv[2], (error, files) => {
  if (error) throw error;
  const hit = files.reduce((sum, file) => sum + file.lines.details.filter((line) => line.hit > 0).length, 0);
  const took = (performance.now() - started) / 1e3;
  console.log(took, hit, /VmHWM:\s*(\d+)/.exec(require("fs").readFileSync("/proc/self/status", "utf8"))[1]);
});
"""


class Docent(Server):
    """A docent server whose CPU time and memory are measured."""

    def __init__(self, docent, folder):
        environment = {**os.environ, "TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")}
        super().__init__([docent, "serve", "--root", str(folder / "project")], environment)
        time.sleep(0.05)

    def cpu(self):
        """Seconds of user and system time so far: the clock of clock_getcpuclockid(3). /proc/PID/stat counts in 10 ms."""
        return time.clock_gettime((~self.process.pid << 3) | 2)

    def peak(self):
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM:"))

    def timed(self, tool, arguments):
        """Calls a tool. Returns the answer, and the seconds of wall time and CPU time."""
        cpu, started = self.cpu(), time.perf_counter()
        result = self.call(tool, arguments)
        took = (time.perf_counter() - started, self.cpu() - cpu)
        assert not result.get("isError"), (tool, arguments, result)
        return result["structuredContent"], took


def write_report(path, size, seed, share):
    """Writes a report of at least `size` bytes with `share` of its lines hit. Returns the number of files, lines and lines hit."""
    chance = random.Random(seed)
    names, found, hit = [], 0, 0
    with open(path, "w", encoding="ascii") as file:
        while file.tell() < size:
            at, lines = len(names), chance.randrange(400, 800)
            names.append(f"packages/area{at % 37}/src/module{at % 11}/component_{at}.ts")
            functions = [(f"handle_{at}_{part}", chance.choice([0, 1, 7, 130])) for part in range(chance.randrange(10, 30))]
            file.write(f"TN:\nSF:{names[-1]}\n")
            file.writelines(f"FN:{chance.randrange(1, lines)},{name}\n" for name, _ in functions)
            file.writelines(f"FNDA:{count},{name}\n" for name, count in functions)
            file.write(f"FNF:{len(functions)}\nFNH:{sum(count > 0 for _, count in functions)}\n")
            coverable = [line for line in range(1, lines) if chance.random() < 0.75]
            counts = [min(int(chance.paretovariate(0.5)), 10**9) if chance.random() < share else 0 for _ in coverable]
            covered = sum(count > 0 for count in counts)
            file.writelines(f"DA:{line},{count}\n" for line, count in zip(coverable, counts))
            file.write(f"LF:{len(coverable)}\nLH:{covered}\n")
            branches = [(line, side, chance.choice("-013")) for line in coverable if chance.random() < 0.1 for side in (0, 1)]
            file.writelines(f"BRDA:{line},0,{side},{taken}\n" for line, side, taken in branches)
            file.write(f"BRF:{len(branches)}\nBRH:{sum(taken in '13' for *_, taken in branches)}\nend_of_record\n")
            found, hit = found + len(coverable), hit + covered
    return {"path": path, "names": names, "found": found, "hit": hit, "size": path.stat().st_size}


def put(folder, report, wait=0.05):
    """Installs the project's report, and waits until docent may cache it: it does not cache a file that changed just now."""
    shutil.copyfile(report["path"], folder / "next.info")
    os.replace(folder / "next.info", folder / "project" / "lcov.info")
    time.sleep(wait)


def overall(server, report):
    """Times a call and checks its answer."""
    answer, took = server.timed("get_overall_coverage", REPORT)
    assert abs(answer["overall"] - 100 * report["hit"] / report["found"]) < 0.051, (answer, report["hit"], report["found"])
    return took


def read_plainly(path):
    """Times a plain read of the file."""
    piece = bytearray(PIECE)
    cpu, started = time.process_time(), time.perf_counter()
    with open(path, "rb", buffering=0) as file:
        while file.readinto(piece):
            pass
    return time.perf_counter() - started, time.process_time() - cpu


def run(command):
    """Times a program. Returns the numbers that it printed; the output of `cat` is discarded."""
    sink = subprocess.DEVNULL if command[0] == "cat" else subprocess.PIPE
    started = time.perf_counter()
    process = subprocess.Popen(command, stdout=sink)
    printed = process.stdout.read().split() if process.stdout else []
    _, process.returncode, usage = os.wait4(process.pid, 0)
    took = time.perf_counter() - started
    assert process.returncode == 0, command
    return (took, usage.ru_utime + usage.ru_stime), [float(word) for word in printed]


def build_peers():
    """Other parsers by name, each as a command that takes a report. Prints the missing ones."""
    cache = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or "~/.cache").expanduser() / "docent" / "bench-lcov"
    (cache / "src").mkdir(parents=True, exist_ok=True)
    for name, text in [("Cargo.toml", CARGO), ("src/main.rs", RUST), ("peer.js", NODE)]:
        (cache / name).write_text(text)
    binary = str(cache / "target" / "release" / "peer")
    cargo = ["cargo", "build", "--quiet", "--release", "--target-dir", "target"]
    npm = ["npm", "install", "--no-audit", "--no-fund", "--prefix", ".", "lcov-parse@1.0.0"]
    peers = {}
    for build, commands in [
        (cargo, {"crate lcov, Reader": [binary, "reader"], "crate lcov, Report": [binary, "report"]}),
        (npm, {"npm lcov-parse": ["node", str(cache / "peer.js")]}),
    ]:
        try:
            subprocess.run(build, cwd=cache, check=True, capture_output=True, text=True)
            peers.update(commands)
        except (OSError, subprocess.CalledProcessError) as error:
            print(f"**SKIPPED: {'; '.join(commands)}**: {error} {getattr(error, 'stderr', '')}\n")
    return peers


def compare_readers(options, folder, reports, peers):
    """Prints time and memory of each reader for a report that it has not read before."""
    path = str(folder / "project" / "lcov.info")
    memory = {"docent, idle": []}
    print("| what | wall p50 | CPU p50 | CPU least to most | MB/s of CPU | CPU to docent's |\n|---|---|---|---|---|---|")
    for report in reports:
        put(folder, report)
        megabytes = f"{round(report['size'] / 1e6, 1):g} MB"
        times = {name: [] for name in ["plain read", "cat", "docent, first call", *peers]}
        memory.update({f"{name}, {megabytes}": [] for name in ["docent", *peers]})
        for _ in range(options.rounds):
            times["plain read"].append(read_plainly(path))
            times["cat"].append(run(["cat", path])[0])
            server = Docent(options.docent, folder)
            memory["docent, idle"].append(server.peak())
            times["docent, first call"].append(overall(server, report))
            memory[f"docent, {megabytes}"].append(server.peak())
            server.close()
            for name, command in peers.items():
                (_, cpu), (seconds, hit, kilobytes) = run([*command, path])
                assert hit == report["hit"], (name, hit, report["hit"])
                times[name].append((seconds, cpu))
                memory[f"{name}, {megabytes}"].append(kilobytes / 1024)
        base = statistics.median(cpu for _, cpu in times["docent, first call"])
        for name, measured in times.items():
            walls, cpus = ([seconds * 1e3 for seconds in values] for values in zip(*measured))
            cpu = statistics.median(cpus)
            print(f"| {name}, {megabytes} | {statistics.median(walls):.1f} ms | {cpu:.1f} ms "
                  f"| {min(cpus):.1f} to {max(cpus):.1f} ms | {report['size'] / 1e3 / cpu:.0f} | {cpu / 1e3 / base:.2f} |")
    print("\n| resident memory at the most | p50 |\n|---|---|")
    for name, measured in memory.items():
        print(f"| {name} | {statistics.median(measured):.1f} MiB |")


def row(name, measured):
    ordered = sorted(wall * 1e3 for wall, _ in measured)
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    print(f"| {name} | {len(ordered)} | {statistics.median(ordered):.2f} ms | {p95:.2f} ms |")


def further_calls(options, folder, big, other):
    """Prints the time of calls to a server that has read the report, and after the report was replaced."""
    chance = random.Random(options.seed)
    put(folder, big)
    server = Docent(options.docent, folder)
    overall(server, big)
    print("\n| call on the long report | calls | p50 | p95 |\n|---|---|---|---|")
    row("get_overall_coverage, unchanged file", [overall(server, big) for _ in range(200)])
    some = [{**REPORT, "filePaths": chance.sample(big["names"], 20)} for _ in range(50)]
    row("get_file_coverage, 20 files", [server.timed("get_file_coverage", arguments)[1] for arguments in some])
    started = [server.timed("start_coverage_snapshot", REPORT) for _ in range(50)]
    row("start_coverage_snapshot", [took for _, took in started])
    replaced = []
    for at in range(options.rounds):
        put(folder, (other, big)[at % 2], wait=0)
        replaced.append(overall(server, (other, big)[at % 2]))
    row("get_overall_coverage, at once after the file was replaced: the new number", replaced)
    put(folder, other)
    overall(server, other)
    ended = [server.timed("end_coverage_snapshot", {**REPORT, "snapshotId": answer["snapshotId"]}) for answer, _ in started]
    row("end_coverage_snapshot, another report", [took for _, took in ended])
    comparison, snapshot = ended[0][0], next((folder / "tmp").iterdir()).stat().st_size
    assert abs(comparison["overallChange"] + 10) < 1, comparison
    length = len(json.dumps(comparison, separators=(",", ":")))
    print(f"\nA comparison lists {len(comparison['fileChanges'])} files in {length:,} characters. "
          f"A snapshot has {snapshot:,} bytes. After all this, memory was {server.peak():.1f} MiB at the most.")
    server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("--megabytes", type=float, default=50)
    parser.add_argument("--seed", type=int, default=4)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--peer", action="store_true")
    options = parser.parse_args()
    options.docent = os.path.abspath(options.docent)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for part in ("project", "tmp", "cache"):
            (folder / part).mkdir()
        size = options.megabytes * 1e6
        big = write_report(folder / "big", size, options.seed, 0.7)
        small = write_report(folder / "small", size / 10, options.seed, 0.7)
        other = write_report(folder / "other", size, options.seed, 0.6)
        print(f"{big['size'] / 1e6:.1f} MB, {len(big['names']):,} files, {big['found']:,} lines, seed {options.seed}; "
              f"{options.rounds} rounds, load {os.getloadavg()[0]:.1f}\n")
        if not options.peer:
            print("**SKIPPED: other parsers**, no --peer\n")
        compare_readers(options, folder, [big, small], build_peers() if options.peer else {})
        further_calls(options, folder, big, other)


if __name__ == "__main__":
    main()
