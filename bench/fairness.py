#!/usr/bin/env python3
"""Whether clients of one HTTP server leave each other room: latencies, and what is kept of abusive requests.

usage: bench/fairness.py DOCENT [DOCENT…] [--heavy N] [--light N] [--only MEASURE…]

Each DOCENT is a binary, for example one before a change and one after it. Measures:
latency    p50 and p95 of `hello` without a session and in a session, over one connection each
fairness   p50, p95 and the worst of `read_file` in one session while another has --heavy slow greps under way
hang-up    seconds until a grep of a new session is answered after a client with --heavy greps has hung up
half-open  seconds until `/health` answers beside 1,000 connections that send half a request
sessions   whether a client gets a session after 1,000 abandoned ones
names      resident memory after 250 requests with a client name of 3.9 MB
unread     resident memory of a stdio server after 10 s of calls whose answers nobody reads, and whether all are answered then
Linux only; Python's standard library only.
"""

import argparse
import http.client
import json
import os
import pathlib
import random
import socket
import subprocess
import tempfile
import threading
import time

HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
OLD, NEW = "2025-11-25", "2026-07-28"


class HttpServer:
    def __init__(self, docent, project, home):
        environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
        command = [docent, "--root", str(project), "--set", "limit.grep_codebase=0", "--set", "limit.read_file=0"]
        self.process = subprocess.Popen(
            command + ["serve", "--http", "127.0.0.1:0"], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, env=environment
        )
        while b"http://" not in (line := self.process.stderr.readline()):
            pass
        self.address = line.decode().split("http://")[1].split("/")[0]
        threading.Thread(target=self.process.stderr.read, daemon=True).start()

    def client(self, session=None):
        return Client(self.address, session)

    def resident_mib(self):
        return resident_mib(self.process.pid)

    def close(self):
        self.process.kill()
        self.process.wait()


class Client:
    """One connection: stateless, or in a session of its own."""

    def __init__(self, address, session):
        self.connection = http.client.HTTPConnection(address)
        self.connection.connect()
        self.connection.sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.headers = dict(HEADERS)
        if session == "new":
            client = {"name": "bench", "version": "0"}
            params = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}
            _, response, body = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
            self.session = response.getheader("mcp-session-id") if "serverInfo" in body else None
        else:
            self.session = session
        if self.session:
            self.headers |= {"MCP-Protocol-Version": OLD, "Mcp-Session-Id": self.session}
        else:
            self.headers |= {"MCP-Protocol-Version": NEW, "Mcp-Method": "tools/call"}

    def post(self, message, more=None):
        self.connection.request("POST", "/mcp", json.dumps(message), self.headers | (more or {}))
        response = self.connection.getresponse()
        return response.status, response, response.read().decode()

    def message(self, tool, arguments, name="bench"):
        params = {"name": tool, "arguments": arguments}
        if not self.session:
            start = "io.modelcontextprotocol/"
            params["_meta"] = {
                start + "protocolVersion": NEW, start + "clientInfo": {"name": name, "version": "0"}, start + "clientCapabilities": {}
            }
        return {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}

    def call(self, tool, arguments, name="bench"):
        status, _, body = self.post(self.message(tool, arguments, name), {} if self.session else {"Mcp-Name": tool})
        return status, body

    def send_only(self, tool, arguments):
        body = json.dumps(self.message(tool, arguments))
        more = {} if self.session else {"Mcp-Name": tool}
        self.connection.request("POST", "/mcp", body, self.headers | more)


def resident_mib(process):
    status = pathlib.Path(f"/proc/{process}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


def figures(times):
    times = sorted(times)
    at = lambda share: times[min(len(times) - 1, int(share * len(times)))] * 1e3
    return f"p50 {at(0.5):.2f} ms, p95 {at(0.95):.2f} ms, worst {times[-1] * 1e3:.1f} ms"


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def make_project(folder, files):
    words = "alpha beta gamma delta epsilon zeta eta theta iota kappa lambda mu".split()
    chance = random.Random(7)
    for number in range(files):
        lines = (" ".join(chance.choices(words, k=10)) for _ in range(20_000))
        (folder / f"text{number}.txt").write_text("\n".join(lines))
    (folder / "small.rs").write_text("fn main() {}\n")


SLOW = {"pattern": r"(alpha|beta) (gamma|delta).*(eta|iota) (mu|kappa) z+q", "filePattern": "*.txt"}


def latency(server, options):
    for name, session in [("stateless", None), ("session", "new")]:
        client = server.client(session)
        for _ in range(20):
            client.call("hello", {})
        print(f"  {name}: {figures([timed(lambda: client.call('hello', {})) for _ in range(options.light)])}")


def start_greps(server, count):
    """Greps of one session, each over a connection of its own."""
    session = server.client("new").session
    clients = [server.client(session) for _ in range(count)]
    for client in clients:
        client.send_only("grep_codebase", SLOW)
    return clients


def fairness(server, options):
    one = server.client("new")
    print(f"  one slow grep alone: {timed(lambda: one.call('grep_codebase', SLOW)):.2f} s")
    light = server.client("new")
    light.call("read_file", {"path": "small.rs"})
    heavy = start_greps(server, options.heavy)
    times = []
    end = time.perf_counter() + 10
    while time.perf_counter() < end and len(times) < options.light:
        times.append(timed(lambda: light.call("read_file", {"path": "small.rs"})))
    print(f"  read_file beside {options.heavy} greps, {len(times)} calls: {figures(times)}")
    return heavy


def hang_up(server, options):
    heavy = start_greps(server, options.heavy)
    server.client("new").call("read_file", {"path": "small.rs"})
    for client in heavy:
        client.connection.close()
    client = server.client("new")
    print(f"  a grep after a hang-up: {timed(lambda: client.call('grep_codebase', SLOW)):.2f} s")


def half_open(server, options):
    host, port = server.address.split(":")
    half = []
    for _ in range(1_000):
        half.append(socket.create_connection((host, int(port))))
        half[-1].sendall(b"GET /health HT")
    def health():
        connection = http.client.HTTPConnection(server.address, timeout=60)
        connection.request("GET", "/health")
        connection.getresponse().read()
    print(f"  /health beside 1,000 half-open connections: {timed(health):.3f} s")


def sessions(server, options):
    for _ in range(1_001):
        server.client("new").connection.close()
    print(f"  a session after 1,001 abandoned ones: {'yes' if server.client('new').session else 'refused'}")


def names(server, options):
    client = server.client()
    client.call("hello", {})
    before = server.resident_mib()
    for number in range(250):
        client.call("hello", {}, name=f"{number:0>8}" + "x" * 3_900_000)
    print(f"  250 names of 3.9 MB: {before:.0f} to {server.resident_mib():.0f} MiB")


def unread(docent, project, home):
    environment = {"HOME": str(home), "PATH": os.environ["PATH"]}
    command = [docent, "--root", str(project), "--set", "limit.hello=0", "serve"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environment)
    client = {"name": "bench", "version": "0"}
    initialize = {"protocolVersion": OLD, "capabilities": {}, "clientInfo": client}
    written = [0]

    def write():
        messages = [("initialize", initialize)] + [("tools/call", {"name": "hello", "arguments": {"name": "x" * 1000}})] * 40_000
        for number, (method, params) in enumerate(messages):
            process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
            written[0] += 1
        process.stdin.flush()

    threading.Thread(target=write, daemon=True).start()
    time.sleep(10)
    print(f"  unread stdio calls: {written[0]} written after 10 s, {resident_mib(process.pid):.0f} MiB")
    answers = {json.loads(process.stdout.readline())["id"] for _ in range(40_001)}
    print(f"  then {len(answers)} of 40,001 answers, {resident_mib(process.pid):.0f} MiB")
    process.stdin.close()
    process.wait()


HTTP_MEASURES = {"latency": latency, "fairness": fairness, "hang-up": hang_up, "half-open": half_open, "sessions": sessions, "names": names}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("docent", nargs="+")
    parser.add_argument("--heavy", type=int, default=60)
    parser.add_argument("--light", type=int, default=200)
    parser.add_argument("--files", type=int, default=40, help="files of 1.2 MB that a grep reads")
    parser.add_argument("--only", nargs="+", choices=[*HTTP_MEASURES, "unread"], default=[*HTTP_MEASURES, "unread"])
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project, home = pathlib.Path(folder, "project"), pathlib.Path(folder, "home")
        project.mkdir()
        make_project(project, options.files)
        for number, docent in enumerate(options.docent):
            print(docent)
            for name in options.only:
                own_home = home / f"{number}-{name}"
                own_home.mkdir(parents=True)
                if name == "unread":
                    unread(docent, project, own_home)
                    continue
                server = HttpServer(docent, project, own_home)
                HTTP_MEASURES[name](server, options)
                server.close()


if __name__ == "__main__":
    main()
