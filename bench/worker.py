# SPDX-License-Identifier: Apache-2.0
"""A program that runs models on request: it prints a line of JSON when it is ready, and the times of
the runs, in milliseconds, for each line `run COUNT`. One that was started without a model is ready
after `load MODEL`."""
import json
import subprocess
import sys


def interpreter(script: str) -> list[str]:
    """What runs a script, by its ending."""
    return [sys.executable] if script.endswith(".py") else ["node"]


class Worker:
    def __init__(self, command: list, ready: bool = True):
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        text=True)
        self.ready = self.answer() if ready else {}

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"`{' '.join(self.process.args)}` ended")
        return json.loads(line)

    def ask(self, line: str):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return self.answer()

    def run(self, count: int) -> list[float]:
        return self.ask(f"run {count}")

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()
