#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs a command many times: the least and the median wall time, start of the process included, the least
processor time, and the peak of its memory. `bench/process.py [-n RUNS] COMMAND …`"""
import os
import resource
import statistics
import subprocess
import sys
import time


def measure(command: list[str]) -> tuple[float, float, int]:
    """Seconds, seconds of the processor, and kilobytes of one run."""
    begin = time.perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    spent = time.perf_counter() - begin
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"`{' '.join(command)}` exits with {child.returncode}")
    return spent, usage.ru_utime + usage.ru_stime, usage.ru_maxrss


def main() -> None:
    arguments = sys.argv[1:]
    runs = 50
    if arguments[:1] == ["-n"]:
        runs = int(arguments[1])
        arguments = arguments[2:]
    if not arguments:
        sys.exit(__doc__)
    results = [measure(arguments) for _ in range(runs)]
    times = [spent * 1e3 for spent, _, _ in results]
    cpu = [processor for _, processor, _ in results]
    peak = max(memory for _, _, memory in results)
    # A process begins as a copy of this one, and the system counts that memory as the process's
    # own.
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    memory = f"{peak / 1024:.1f} MiB at most" if peak > own * 1.05 else f"less than {peak / 1024:.0f} MiB"
    print(f"{' '.join(arguments)}: {min(times):.2f} ms least, {statistics.median(times):.2f} ms median "
          f"of {runs} runs, {min(cpu) * 1e3:.2f} ms of processor time at the least, {memory}")


if __name__ == "__main__":
    main()
