#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares Lemma with PyTorch on an NVIDIA GPU: six networks, in three precisions.

    peers.py --lemma PROGRAM [--models FOLDER] [--only REGEX] [--batches 1,32]
             [--precisions f32,tf32,f16] [--json FILE]

PyTorch replays a CUDA graph, with the faster of its two layouts. Lemma runs the ONNX file that PyTorch
exports, with `--numerics=fast` for TF32. Times are medians in milliseconds, without copies of inputs and
outputs if Lemma reports that time; the ratio is PyTorch's / Lemma's. Results are compared first: the
difference is relative to the largest output. Weights are random."""
import argparse
import json
import math
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

import numpy
import torch
import torchvision

LIMITS = {"f32": 1e-4, "tf32": 2e-2, "f16": 3e-2}


class Bert(torch.nn.Module):
    """A layer of BERT-base."""

    def __init__(self):
        super().__init__()
        self.layer = torch.nn.TransformerEncoderLayer(768, 12, 3072, activation="gelu", batch_first=True)

    def forward(self, x):
        layer = self.layer
        rows, tokens, width = x.shape
        qkv = torch.nn.functional.linear(x, layer.self_attn.in_proj_weight, layer.self_attn.in_proj_bias)
        q, k, v = qkv.view(rows, tokens, 3, 12, 64).permute(2, 0, 3, 1, 4)
        weights = torch.softmax(q @ k.transpose(-1, -2) / 8.0, -1)
        joined = (weights @ v).transpose(1, 2).reshape(rows, tokens, width)
        x = layer.norm1(x + layer.self_attn.out_proj(joined))
        return layer.norm2(x + layer.linear2(torch.nn.functional.gelu(layer.linear1(x))))


IMAGE, TOKENS = (3, 224, 224), (128, 768)
NETWORKS = {
    "resnet50": (torchvision.models.resnet50, IMAGE),
    "mobilenet_v2": (torchvision.models.mobilenet_v2, IMAGE),
    "vgg19": (torchvision.models.vgg19, IMAGE),
    "densenet121": (torchvision.models.densenet121, IMAGE),
    "swin_t": (torchvision.models.swin_t, IMAGE),
    "bert_layer": (Bert, TOKENS),
}


def torch_time(model, x, layout) -> float:
    """The median time of a replayed graph, in ms."""
    model = model.cuda().to(memory_format=layout)
    x = x.cuda()
    if x.dim() == 4:
        x = x.to(memory_format=layout)
    side = torch.cuda.Stream()
    with torch.no_grad(), torch.cuda.stream(side):
        for _ in range(3):
            model(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        model(x)
    times = []
    for i in range(60):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 10:
            times.append(begin.elapsed_time(end))
    return statistics.median(times)


def run(command: list) -> str:
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError((done.stderr or done.stdout)[-600:])
    return done.stdout


def compare(arguments, name: str, batch: int, precision: str, models: pathlib.Path) -> dict:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = precision == "tf32"
    torch.backends.cudnn.benchmark = True
    torch.manual_seed(1)
    make, shape = NETWORKS[name]
    dtype = torch.float16 if precision == "f16" else torch.float32
    model = make().eval().to(dtype)
    x = torch.randn(batch, *shape, dtype=dtype)
    path = models / f"{name}_{batch}_{'f16' if precision == 'f16' else 'f32'}.onnx"
    if not path.exists():
        torch.onnx.export(model.cuda(), (x.cuda(),), str(path), opset_version=17, dynamo=False)
    fast = ["--numerics=fast"] if precision == "tf32" else []
    given, result = models / "x.npy", models / "y.npy"
    numpy.save(given, x.numpy())
    run([arguments.lemma, "run", path, "-i", given, "-o", result, "--device=cuda", *fast])
    with torch.no_grad():
        expected = model.cuda()(x.cuda()).float().cpu().numpy()
    found = numpy.load(result).astype(numpy.float32)
    difference = float(abs(found - expected).max() / max(abs(expected).max(), 1e-6))
    measured = json.loads(run([arguments.lemma, "bench", path, "--device=cuda", "--json", *fast]))
    lemma = measured.get("device_median_ms", measured["median_ms"])
    layouts = [torch.contiguous_format] + ([torch.channels_last] if len(shape) == 3 else [])
    peer = min(torch_time(model, x, layout) for layout in layouts)
    return {"network": name, "batch": batch, "precision": precision, "torch_ms": peer, "lemma_ms": lemma,
            "ratio": peer / lemma, "difference": difference, "lemma": measured}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--models", type=pathlib.Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--batches", default="1,32")
    parser.add_argument("--precisions", default="f32,tf32,f16")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args()
    models = arguments.models or pathlib.Path(tempfile.mkdtemp())
    models.mkdir(parents=True, exist_ok=True)
    results, failed = [], 0
    print(f"{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
    for precision in arguments.precisions.split(","):
        for batch in map(int, arguments.batches.split(",")):
            ratios = []
            for name in NETWORKS:
                if not re.search(arguments.only, name):
                    continue
                try:
                    one = compare(arguments, name, batch, precision, models)
                except RuntimeError as error:
                    print(f"{name:14} {batch:3} {precision}: {error}", flush=True)
                    failed += 1
                    continue
                good = one["difference"] <= LIMITS[precision]
                failed += not good
                results.append(one)
                ratios.append(one["ratio"])
                print(f"{name:14} {batch:3} {precision:5} PyTorch {one['torch_ms']:8.3f}  Lemma {one['lemma_ms']:8.3f}"
                      f"  ratio {one['ratio']:5.2f}  difference {one['difference']:.1e}{'' if good else ' WRONG'}",
                      flush=True)
            if ratios:
                mean = math.exp(statistics.fmean(map(math.log, ratios)))
                print(f"{'mean':14} {batch:3} {precision:5} {mean:.2f}", flush=True)
    if arguments.json:
        arguments.json.write_text(json.dumps(results))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
