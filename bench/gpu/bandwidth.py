#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures operators on a GPU that are bound by its memory: element-wise maps, rows, transpositions, and the
new operators of examples/new_operators at larger sizes.

    bandwidth.py --lemma PROGRAM [--only REGEX]

The rate counts each input and each output once. The share is that of a copy on the device: of PyTorch's if it
is there, else of the peak that the driver tells. Sums are compared with the library's product of the same size."""
import argparse
import json
import pathlib
import re
import subprocess
import sys
import tempfile

ROWS, COLUMNS = 4096, 8192
PLAIN = """import layout; import math; import nn;
graph G {{
    @input {{ x: real[{rows}, {columns}]; {more} }}
    @output {{ y: real[{out}]; }}
    @compose {{ {body} }}
}}
"""
SAME = f"{ROWS}, {COLUMNS}"


def plain(body: str, inputs: int = 1, more: str = "", out: str = SAME, moved: float = 0.0):
    """The text of a model, and the bytes that it must move."""
    text = PLAIN.format(rows=ROWS, columns=COLUMNS, more=more, body=body, out=out)
    return text, (moved or inputs + 1) * ROWS * COLUMNS * 4


MODELS = {
    "relu": plain("y = nn.relu(x);"),
    "add": plain("y = math.add(x, z);", 2, f"z: real[{SAME}];"),
    "add a row": plain("y = math.add(x, z);", 1, f"z: real[1, {COLUMNS}];"),
    "sigmoid": plain("y = nn.sigmoid(x);"),
    "gelu": plain("y = nn.gelu(x);"),
    "tanh, mul, add": plain("t = math.tanh(x); m = math.mul(t, z); y = math.add(m, x);", 2, f"z: real[{SAME}];"),
    "exp": plain("y = math.exp(x);"),
    "clamp": plain("y = math.clamp(x, 0.0, 6.0);"),
    "transpose": plain("y = layout.transpose{perm=[1, 0]}(x);", out=f"{COLUMNS}, {ROWS}"),
    "softmax": plain("y = nn.softmax{axes=[1]}(x);"),
    "layer norm": plain("y = nn.layer_norm(x, b, s);", 1, f"b: real[{COLUMNS}]; s: real[{COLUMNS}];"),
    "sum of rows": plain("y = math.sum_reduce{axes=[1], squeeze=true}(x);", out=f"{ROWS}", moved=1.0),
    "mean of columns": plain("y = math.mean_reduce{axes=[0], squeeze=true}(x);", out=f"{COLUMNS}", moved=1.0),
}


def bench(lemma: str, model: pathlib.Path, *options: str) -> dict:
    command = [lemma, "bench", str(model), "--device=cuda", "--json", "--random-weights", "--runs=40", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr[-400:])
    return json.loads(done.stdout)


def copy_rate() -> float:
    """Bytes read and written in a second by a copy in PyTorch; 0 without it."""
    try:
        import torch
    except ImportError:
        return 0.0
    a = torch.randn(ROWS, COLUMNS, device="cuda")
    b = torch.empty_like(a)
    best = 1e9
    for _ in range(30):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        b.copy_(a)
        end.record()
        end.synchronize()
        best = min(best, begin.elapsed_time(end))
    return 2 * a.nbytes / best * 1e3


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    work = pathlib.Path(tempfile.mkdtemp())
    examples = pathlib.Path(__file__).resolve().parents[2] / "examples" / "new_operators"
    gated = (examples / "gated.sknd").read_text().replace("[64, 4096]", f"[{SAME}]")
    MODELS["gated (new)"] = gated, 3 * ROWS * COLUMNS * 4
    copied = copy_rate()
    failed = 0
    for name, (text, moved) in MODELS.items():
        if not re.search(arguments.only, name):
            continue
        model = work / "model.sknd"
        model.write_text(text)
        options = ["--graph=New"] if "graph New" in text else []
        try:
            numbers = bench(arguments.lemma, model, *options)
        except RuntimeError as error:
            print(f"{name:16} {error}", flush=True)
            failed += 1
            continue
        peak = copied or numbers["device_peak_gbytes"] * 1e9
        rate = moved / numbers["device_min_ms"] * 1e3
        print(f"{name:16} {numbers['device_min_ms']:8.4f} ms {rate / 1e9:7.0f} GB/s {100 * rate / peak:5.1f} %", flush=True)
    sizes = {"distances.sknd": [("[512, 256]", "[4096, 1024]"), ("[512, 512]", "[4096, 4096]")],
             "window_conv.sknd": [("[1, 64, 4096]", "[16, 256, 4096]"), ("[1, 64, 4088]", "[16, 256, 4088]"),
                                  ("[64, 64, 5]", "[256, 256, 5]")]}
    for name, changes in sizes.items():
        if not re.search(arguments.only, name):
            continue
        text = (examples / name).read_text()
        for old, new in changes:
            text = text.replace(old, new)
        model = work / name
        model.write_text(text)
        new, library = (bench(arguments.lemma, model, f"--graph={graph}")["device_min_ms"] for graph in ("New", "Library"))
        print(f"{name:16} {new:8.4f} ms, library {library:8.4f} ms: {100 * library / new:5.1f} %", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
