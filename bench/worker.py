# SPDX-License-Identifier: Apache-2.0
"""A program that runs a model on request: it prints a line of JSON when it is ready, and the times of
the runs, in milliseconds, for each line `run COUNT`."""
import json
import subprocess
import sys


class Worker:
    def __init__(self, command: list):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ready = self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"`{' '.join(self.process.args)}` ended")
        return json.loads(line)

    def run(self, count: int) -> list[float]:
        self.process.stdin.write(f"run {count}\n")
        self.process.stdin.flush()
        return self.answer()

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
