#!/usr/bin/env python3
"""Time from the spawn of docent to the answer of the handshake, memory after it, and time to exit.

usage: bench/start.py DOCENT [--root DIR] [--starts N]

Linux only: memory is read from /proc.
"""

import argparse
import json
import statistics
import subprocess
import time

CLIENT = {"name": "bench", "version": "0"}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientInfo": CLIENT,
    "io.modelcontextprotocol/clientCapabilities": {},
}
OPENERS = {
    "2025-11-25": ("initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": CLIENT}),
    "2026-07-28": ("server/discover", {"_meta": META}),
}


def spawn(options):
    command = [options.docent, "serve", "--root", options.root]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)


def close(process):
    started = time.perf_counter()
    process.stdin.close()
    code = process.wait()
    assert code == 0, code
    return (time.perf_counter() - started) * 1e3


def resident(process):
    with open(f"/proc/{process.pid}/status", encoding="ascii") as status:
        return next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmRSS:"))


def row(name, values, unit):
    ordered = sorted(values)
    p95 = ordered[round(0.95 * (len(ordered) - 1))]
    print(f"| {name} | {statistics.median(values):.1f} {unit} | {p95:.1f} {unit} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent")
    parser.add_argument("--root", default=".")
    parser.add_argument("--starts", type=int, default=100)
    options = parser.parse_args()
    print("| what | p50 | p95 |\n|---|---|---|")
    for era, (method, params) in OPENERS.items():
        answered, memory, left = [], [], []
        for _ in range(options.starts):
            started = time.perf_counter()
            process = spawn(options)
            process.stdin.write((json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}) + "\n").encode())
            process.stdin.flush()
            process.stdout.readline()
            answered.append((time.perf_counter() - started) * 1e3)
            memory.append(resident(process))
            left.append(close(process))
        row(f"{era}: spawn to first answer", answered, "ms")
        row(f"{era}: resident after it", memory, "MB")
        row(f"{era}: exit after stdin closes", left, "ms")
    row("exit after stdin closes, before any request", [close(spawn(options)) for _ in range(options.starts)], "ms")


if __name__ == "__main__":
    main()
