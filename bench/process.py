"""Runs a program to its end and measures its cost, for the scripts that measure and compare."""

import os
import subprocess
import sys
import tempfile
import time


def run(command, environment=None):
    """Runs a command. Returns its output, wall and CPU seconds (user and system, of all its processes), and peak memory in MiB.

    The kernel counts the memory of the script that starts it as well (about 20 MiB), so a smaller peak shows as that.
    """
    with tempfile.TemporaryFile() as errors:
        started = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, env=environment)
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - started
        process.stdout.close()
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            errors.seek(0)
            sys.exit(f"{os.path.basename(command[0])} failed: {errors.read().decode(errors='replace')[-2000:]}")
    return output.decode(), {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024}
