#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes models of one operator each, for a comparison with other programs: what an operator costs
where no neighbour chooses a layout for it.

    single.py LEMMA FOLDER

LEMMA is the program that turns them into FOLDER/*.onnx."""
import pathlib
import subprocess
import sys

IMAGE = "1, 64, 112, 112"
SMALL = "1, 64, 56, 56"

# Name: inputs, variables and outputs with their shapes, and the computation.
MODELS = {
    "add": ({"x": IMAGE, "z": IMAGE}, {}, {"y": IMAGE}, "y = math.add(x, z);"),
    "add_channels": ({"x": SMALL, "b": "1, 64, 1, 1"}, {}, {"y": SMALL}, "y = math.add(x, b);"),
    "avg_pool_s1": ({"x": IMAGE}, {}, {"y": IMAGE},
                    "y = nn.avg_pool{axes=[2,3], size=[3,3], stride=[1,1], padding=[1,1,1,1]}(x);"),
    "avg_pool_s2": ({"x": IMAGE}, {}, {"y": SMALL},
                    "y = nn.avg_pool{axes=[2,3], size=[3,3], stride=[2,2], padding=[1,1,1,1]}(x);"),
    "concat": ({"x": IMAGE, "z": IMAGE}, {}, {"y": "1, 128, 112, 112"}, "y = layout.concat{axis=1}([x, z]);"),
    "conv_1x1": ({"x": SMALL}, {"w": "256, 64, 1, 1", "b": "256"}, {"y": "1, 256, 56, 56"},
                 "y = nn.conv{padding=[0,0,0,0]}(x, w, b);"),
    "conv_3x3": ({"x": SMALL}, {"w": "64, 64, 3, 3", "b": "64"}, {"y": SMALL}, "y = nn.conv{padding=[1,1,1,1]}(x, w, b);"),
    "conv_7x7": ({"x": "1, 3, 224, 224"}, {"w": "64, 3, 7, 7", "b": "64"}, {"y": IMAGE},
                 "y = nn.conv{stride=[2,2], padding=[3,3,3,3]}(x, w, b);"),
    "conv_depthwise": ({"x": SMALL}, {"w": "64, 1, 3, 3", "b": "64"}, {"y": SMALL},
                       "y = nn.conv{padding=[1,1,1,1], groups=64}(x, w, b);"),
    "conv_transposed": ({"x": "1, 64, 28, 28"}, {"w": "64, 32, 4, 4", "b": "32"}, {"y": "1, 32, 56, 56"},
                        "y = nn.deconv{stride=[2,2], padding=[1,1,1,1]}(x, w, b);"),
    "depth_to_space": ({"x": "1, 256, 28, 28"}, {}, {"y": SMALL}, "y = layout.depth_to_space{block_size=[2,2]}(x);"),
    "exp": ({"x": IMAGE}, {}, {"y": IMAGE}, "y = math.exp(x);"),
    "gelu": ({"x": "128, 3072"}, {}, {"y": "128, 3072"}, "y = nn.gelu(x);"),
    "linear": ({"x": "1, 4096"}, {"w": "1000, 4096", "b": "1000"}, {"y": "1, 1000"}, "y = nn.linear(x, w, b);"),
    "log_softmax": ({"x": "64, 1000"}, {}, {"y": "64, 1000"}, "s = nn.softmax{axes=[-1]}(x); y = math.log(s);"),
    "lrn": ({"x": SMALL}, {}, {"y": SMALL},
            "y = nn.local_response_norm{axes=[1], size=[5], alpha=0.0001, beta=0.75, bias=1.0}(x);"),
    "matmul": ({"x": "512, 512", "z": "512, 512"}, {}, {"y": "512, 512"}, "y = linalg.matmul(x, z);"),
    "matmul_batch": ({"x": "12, 128, 64", "z": "12, 64, 128"}, {}, {"y": "12, 128, 128"}, "y = linalg.matmul(x, z);"),
    "max_pool_2x2": ({"x": IMAGE}, {}, {"y": SMALL},
                     "y = nn.max_pool{axes=[2,3], size=[2,2], stride=[2,2], padding=[0,0,0,0]}(x);"),
    "max_pool_3x3": ({"x": IMAGE}, {}, {"y": SMALL},
                     "y = nn.max_pool{axes=[2,3], size=[3,3], stride=[2,2], padding=[1,1,1,1]}(x);"),
    "max_reduce": ({"x": IMAGE}, {}, {"y": "1, 1, 112, 112"}, "y = math.max_reduce{axes=[1]}(x);"),
    "mean_reduce": ({"x": IMAGE}, {}, {"y": "1, 64, 1, 1"}, "y = math.mean_reduce{axes=[2,3]}(x);"),
    "pad": ({"x": IMAGE}, {}, {"y": "1, 64, 114, 114"}, "y = layout.pad{axes=[2,3], padding=[1,1,1,1]}(x, 0.0);"),
    "pow": ({"x": SMALL}, {}, {"y": SMALL}, "z = math.add(x, 1.0); y = math.pow(z, 2.3);"),
    "relu": ({"x": IMAGE}, {}, {"y": IMAGE}, "y = nn.relu(x);"),
    "sigmoid": ({"x": IMAGE}, {}, {"y": IMAGE}, "y = nn.sigmoid(x);"),
    "slice": ({"x": IMAGE}, {}, {"y": "1, 64, 100, 100"},
              "y = layout.slice{axes=[2,3], begin=[6,6], end=[106,106]}(x);"),
    "softmax_channels": ({"x": "1, 21, 256, 256"}, {}, {"y": "1, 21, 256, 256"}, "y = nn.softmax{axes=[1]}(x);"),
    "softmax_rows": ({"x": "1536, 128"}, {}, {"y": "1536, 128"}, "y = nn.softmax{axes=[-1]}(x);"),
    "sum_reduce": ({"x": IMAGE}, {}, {"y": "1, 64, 112, 1"}, "y = math.sum_reduce{axes=[3]}(x);"),
    "tanh": ({"x": IMAGE}, {}, {"y": IMAGE}, "y = math.tanh(x);"),
    "transpose": ({"x": "1024, 1024"}, {}, {"y": "1024, 1024"}, "y = layout.transpose{perm=[1,0]}(x);"),
    "transpose_nhwc": ({"x": IMAGE}, {}, {"y": "1, 112, 112, 64"}, "y = layout.transpose{perm=[0,2,3,1]}(x);"),
    "upsample": ({"x": SMALL}, {}, {"y": IMAGE}, "y = image.nearest_upsample{axes=[2,3], factor=[2,2]}(x);"),
    "upsample_linear": ({"x": "1, 32, 56, 56"}, {}, {"y": "1, 32, 112, 112"},
                        "y = image.linear_upsample{axes=[2,3], factor=[2,2]}(x);"),
}


def block(name: str, tensors: dict[str, str]) -> str:
    items = " ".join(f"{tensor}: real[{shape}];" for tensor, shape in tensors.items())
    return f"    @{name} {{ {items} }}\n" if tensors else ""


def write(lemma: str, folder: pathlib.Path, name: str) -> None:
    inputs, variables, outputs, body = MODELS[name]
    model = folder / name
    model.mkdir(parents=True, exist_ok=True)
    text = "".join(f"import {module};\n" for module in ("image", "layout", "linalg", "math", "nn"))
    text += "graph G {\n" + block("input", inputs) + block("output", outputs) + block("variable", variables)
    (model / "main.sknd").write_text(text + f"    @compose {{ {body} }}\n}}\n")
    run = [lemma, "run", str(model), "--random-weights=3", "--random-inputs"]
    if variables:
        subprocess.run([*run, "--save-variables", str(model)], check=True, stdout=subprocess.DEVNULL)
    subprocess.run([lemma, "convert", "--force", str(model), str(folder / f"{name}.onnx")], check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    for name in MODELS:
        write(sys.argv[1], pathlib.Path(sys.argv[2]), name)


main()
