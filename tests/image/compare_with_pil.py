#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares `lemma run --preprocess` with Pillow and NumPy on random pictures: each element must have the
same bits."""
import pathlib
import random
import subprocess
import sys
import tempfile

import numpy
from PIL import Image

MODEL = """import math;
graph G {{
    @input {{ x: real[{shape}]; }}
    @output {{ y: real[{shape}]; }}
    @compose {{ y = math.max(x, x); }}
}}
"""
FILTERS = {"bilinear": Image.BILINEAR, "bicubic": Image.BICUBIC, "nearest": Image.NEAREST}
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def make_picture(path, mode, rng):
    height, width = rng.randrange(20, 90), rng.randrange(20, 90)
    noise = numpy.random.default_rng(rng.randrange(1 << 30))
    pixels = noise.integers(0, 256, (height // 4 + 1, width // 4 + 1, 4), dtype=numpy.uint8)
    picture = Image.fromarray(pixels, "RGBA").resize((width, height), Image.BICUBIC)
    picture = picture.convert("RGB").convert("P") if mode == "P" else picture.convert(mode)
    if path.suffix == ".jpg":
        picture.save(path, quality=rng.choice([60, 85, 95]), subsampling=rng.choice([0, 1, 2]),
                     progressive=rng.choice([False, True]))
    else:
        picture.save(path)


def expected(path, words):
    """The same steps, with Pillow and NumPy."""
    picture = Image.open(path).convert("L" if words["channels"] == "grey" else "RGB")
    width, height = picture.size
    resize, crop = words["resize"], words["crop"]
    if "x" in resize:
        size = [int(n) for n in resize.split("x")]
    else:
        short = int(resize)
        size = [int(short * height / width), short] if width <= height else [short, int(short * width / height)]
    picture = picture.resize((size[1], size[0]), FILTERS[words["filter"]])
    top, left = round((size[0] - crop) / 2), round((size[1] - crop) / 2)
    picture = picture.crop((left, top, left + crop, top + crop))
    array = numpy.asarray(picture, numpy.float32).reshape(crop, crop, -1)
    if words["channels"] == "bgr":
        array = array[:, :, ::-1]
    count = array.shape[2]
    array = array / numpy.float32(255)
    array = (array - numpy.float32(MEAN[:count])) / numpy.float32(STD[:count])
    array = array if words["layout"] == "nhwc" else array.transpose(2, 0, 1)
    return numpy.ascontiguousarray(array)[None]


def compare(lemma, folder, index, rng):
    mode, ending = rng.choice([("RGB", "png"), ("L", "png"), ("RGBA", "png"), ("P", "png"),
                               ("RGB", "jpg"), ("RGB", "jpg"), ("L", "jpg")])
    path = folder / f"{index}.{ending}"
    make_picture(path, mode, rng)
    words = {"channels": rng.choice(["rgb", "bgr", "grey"]), "filter": rng.choice(list(FILTERS)),
             "layout": rng.choice(["nchw", "nhwc"]),
             "resize": rng.choice(["31", "64", "33x50", "80x32"]), "crop": rng.choice([24, 29, 31])}
    count = 1 if words["channels"] == "grey" else 3
    recipe = ",".join(f"{key}={value}" for key, value in words.items())
    recipe += f",mean={':'.join(str(m) for m in MEAN[:count])},std={':'.join(str(s) for s in STD[:count])}"
    want = expected(path, words)
    (folder / "model.sknd").write_text(MODEL.format(shape=", ".join(str(n) for n in want.shape)))
    subprocess.run([lemma, "run", folder / "model.sknd", "-i", path, f"--preprocess={recipe}",
                    "--engine=interpret", "-o", folder / "y.npy"], check=True)
    got = numpy.load(folder / "y.npy")
    if got.shape == want.shape and (got == want).all():
        return True
    print(f"{mode} {ending} {Image.open(path).size} {recipe}: largest difference {abs(got - want).max()}")
    return False


def main(lemma, count):
    rng = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        good = sum(compare(lemma, pathlib.Path(name), i, rng) for i in range(count))
    print(f"{good} passed, {count - good} failed")
    return 0 if good == count else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40))
