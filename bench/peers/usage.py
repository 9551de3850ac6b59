"""CPU time and memory of processes, read from /proc: Linux only."""

import contextlib
import os
import pathlib
import resource
import signal
import threading
import time

TICK = os.sysconf("SC_CLK_TCK")
PAGE_MIB = os.sysconf("SC_PAGE_SIZE") / 2**20


def processes(mark):
    """All processes of a tool, also those that left its process tree: each carries the mark in its environment."""
    for entry in os.listdir("/proc"):
        with contextlib.suppress(OSError):
            if entry.isdigit() and mark in pathlib.Path("/proc", entry, "environ").read_bytes():
                yield int(entry)


def tree(pid):
    """A process and its descendants."""
    yield pid
    with contextlib.suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            for child in pathlib.Path(f"/proc/{pid}/task/{thread}/children").read_text().split():
                yield from tree(int(child))


def resident(pids):
    """Sum of the resident sizes, in MiB."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_MIB
    return total


def cpu(pids):
    """Seconds of CPU time of these processes and of their children that have ended."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += sum(map(int, pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:15]))
    return total / TICK


def children_cpu():
    """Seconds of CPU time of all ended children of this script."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def kill(pids):
    for pid in pids:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)


class PeakWatch:
    """Context manager: records the peak memory of a process tree, and kills the tree after `limit` seconds (`late`)."""

    def __init__(self, pid, limit):
        self.pid, self.limit, self.peak, self.late, self.done = pid, limit, 0, False, threading.Event()

    def sample(self):
        began = time.monotonic()
        while not self.done.wait(0.02):
            self.peak = max(self.peak, resident(tree(self.pid)))
            if time.monotonic() - began > self.limit and not self.late:
                self.late = True
                kill(list(tree(self.pid)))

    def __enter__(self):
        self.thread = threading.Thread(target=self.sample)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.done.set()
        self.thread.join()
