#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The latency of the language server: from a keystroke to the diagnostics of that version, and from
a completion request right after a keystroke to its answer. Prints a table; with --check it fails if
a model of 2,000 lines misses the limits of 50 ms and 20 ms.

    bench/lsp/latency.py --lemma=build/release/lemma
"""
import argparse
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "tests/lsp"))
from client import Client

PAUSE = 0.05  # seconds between keystrokes, as of a fast typist
MAX_DIAGNOSTICS_MS = 50
MAX_COMPLETION_MS = 20


def model(lines):
    """A convolutional network with about this many lines; a block has five."""
    head = ["import nn;", "import math;", "", "graph main {", "    @input {",
            "        x: real[1, 16, 32, 32];", "    }", "    @output {",
            "        y: real[1, 16, 32, 32];", "    }", "    @variable {",
            "        w: real[16, 16, 3, 3];", "        b: real[16];", "    }", "    @compose {",
            "        t0 = nn.relu(x);"]
    body = []
    blocks = max(1, (lines - len(head) - 3) // 5)
    for i in range(blocks):
        body += [f"        c{i} = nn.conv{{padding=1}}(t{i}, w, b);",
                 f"        r{i} = nn.relu(c{i});",
                 f"        p{i} = nn.max_pool{{size=3, stride=1, padding=1}}(r{i});",
                 f"        s{i} = math.add(p{i}, t{i});",
                 f"        t{i + 1} = nn.relu(s{i});"]
    tail = [f"        y = nn.relu(t{blocks});", "    }", "}"]
    return head + body + tail


def measure(lemma, lines, keys):
    text = model(lines)
    client = Client(lemma)
    client.initialize()
    uri = "untitled:model.sknd"
    client.open(uri, "\n".join(text) + "\n")
    assert client.wait_diagnostics(uri, 1, 120) == []
    line = len(text) // 2
    version = 1
    # A line is typed in the middle, key by key: a statement, then a comment, which leaves the model
    # without faults, so that it is composed as a whole each time.
    series = {"statement": [], "comment": [], "completion": []}
    for kind, typed in [("statement", "        extra = nn.relu(x);"), ("comment", "        # then")]:
        for i in range(keys):
            column = i % len(typed)
            version += 1
            start = {"line": line, "character": column}
            edit = {"range": {"start": start, "end": start}, "text": typed[column]}
            if column == 0:  # begin again, on a line of its own
                end = {"line": line, "character": len(typed)} if i > 0 else start
                edit = {"range": {"start": start, "end": end},
                        "text": typed[0] + ("" if i > 0 else "\n")}
            time.sleep(PAUSE)
            begin = time.perf_counter()
            client.change(uri, version, [edit])
            asks = kind == "statement" and i % 2 == 1
            if asks:
                client.request("textDocument/completion", {
                    "textDocument": {"uri": uri},
                    "position": {"line": line, "character": column + 1}}, 120)
                series["completion"].append((time.perf_counter() - begin) * 1000)
            client.wait_diagnostics(uri, version, 120)
            if not asks:
                series[kind].append((time.perf_counter() - begin) * 1000)
        version += 1
        client.change(uri, version, [{"text": "\n".join(text) + "\n"}])
        client.wait_diagnostics(uri, version, 120)
    client.close()
    return len(text), list(series.values())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--keys", type=int, default=54)
    parser.add_argument("--check", action="store_true")
    options = parser.parse_args()
    print("| lines | diagnostics while typing a statement | the same in a valid model | completion |")
    print("|---|---|---|---|")
    missed = False
    for lines in (100, 2000, 20000):
        count, series = measure(options.lemma, lines, options.keys)
        cells = []
        for times in series:
            times.sort()
            cells.append((statistics.median(times), times[int(len(times) * 0.9)]))
        print(f"| {count} | " + " | ".join(f"{m:.1f} ms, p90 {p:.1f} ms" for m, p in cells) + " |")
        if lines == 2000:
            missed = (max(cells[0][0], cells[1][0]) > MAX_DIAGNOSTICS_MS
                      or cells[2][0] > MAX_COMPLETION_MS)
    if options.check and missed:
        print("too slow")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
