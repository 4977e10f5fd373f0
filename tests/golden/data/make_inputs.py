#!/usr/bin/env python3
"""Writes the models, data files and archives of this folder's tests into inputs/."""
import bz2
import gzip
import io
import lzma
import pathlib
import shutil
import struct
import tarfile
import zipfile

HERE = pathlib.Path(__file__).parent / "inputs"

TWO_LAYERS = """\
operator layer {
    @input {
        x: real[n];
    }
    @variable {
        w: real[n];
    }
    @output {
        y: real[n];
    }
    @lower {
        y[i,] = x[i,] * w[i,], i < n;
    }
}

graph G {
    @input {
        x: real[3];
    }
    @output {
        y: real[3];
    }
    @compose {
        t = first: layer(x);
        y = second: layer(t);
    }
}
"""

ONE_VARIABLE = """\
graph G {
    @input {
        x: real[2,3];
    }
    @variable {
        w: TYPE[2,3];
    }
    @output {
        y: TYPE[2,3];
    }
    @compose {
        y = w;
    }
}
"""

LIBRARY = """\
import layer;

graph G {
    @input {
        x: real[1,4];
    }
    @output {
        y: real[1,2];
    }
    @compose {
        t = one: layer.linear{channels=3}(x);
        y = two: layer.linear{channels=2, use_bias=false}(t);
    }
}
"""

PACKS = """\
graph G {
    @input {
        x: real[3];
    }
    @variable {
        ws: real[3]..(2);
        flags: bool[9];
        counts: int[2];
    }
    @output {
        y: real[3]..(2);
        f: bool[9];
        c: int[2];
    }
    @compose {
        y..(2) = ws;
        f = flags;
        c = counts;
    }
}
"""


def dat(shape, item=0, bits=32, length=None, data=None, version=0x0001, magic=b"N\xef", words=None):
    """A tensor file; `words` replaces words of the header by their numbers."""
    volume = 1
    for extent in shape:
        volume *= extent
    size = (volume * bits + 7) // 8
    header = [size if length is None else length, len(shape), *shape, *[0] * (8 - len(shape)),
              bits, item, *[0] * 19]
    for at, word in (words or {}).items():
        header[at - 1] = word
    body = bytes(size) if data is None else data
    return magic + struct.pack("<H31I", version, *header) + body


def tar(entries, mode="w"):
    """A tar of (name, bytes) and ready-made TarInfo."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode, format=tarfile.USTAR_FORMAT) as archive:
        for entry in entries:
            if isinstance(entry, tarfile.TarInfo):
                archive.addfile(entry)
                continue
            info = tarfile.TarInfo(entry[0])
            info.size = len(entry[1])
            archive.addfile(info, io.BytesIO(entry[1]))
    return out.getvalue()


def zipped(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in entries:
            archive.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
    return out.getvalue()


def link(name, target, kind=tarfile.SYMTYPE):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info


def encrypted(data):
    """Sets the flag of an encrypted entry in both headers of the only entry."""
    data = bytearray(data)
    data[6] |= 1
    data[data.index(b"PK\x01\x02") + 8] |= 1
    return bytes(data)


def write(name, data):
    path = HERE / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)


def models():
    for name in ("two", "folders", "structure", "missing", "spare"):
        write(f"{name}/main.sknd", TWO_LAYERS)
    write("two/main.G.first.w.dat", dat([3]))
    write("two/G.second.w.dat", dat([3], bits=16))
    write("folders/first/w.dat", dat([3]))
    write("folders/main/G/second/w.dat", dat([3], bits=64))
    write("missing/main.G.frist.w.dat", dat([3]))
    write("missing/other.dat", dat([3]))
    write("missing/.hidden.dat", "x")
    write("spare/main.G.first.w.dat", dat([3]))
    write("spare/main.G.second.w.dat", dat([3]))
    write("spare/first.w.dat", dat([5]))
    write("single/net.sknd", TWO_LAYERS)
    write("single/net.G.first.w.dat", dat([3]))
    write("single/net.G.second.w.dat", dat([4]))
    write("single/of_another_model.dat", dat([3]))
    write("library/main.sknd", LIBRARY)
    write("library/main.G.one.filter.dat", dat([3, 4]))
    write("library/main.G.one.bias.dat", dat([2]))
    write("packs/main.sknd", PACKS)
    write("packs/main.G.ws.0.dat", dat([3], item=2, bits=8))
    write("packs/main.G.ws.1.dat", dat([3], item=3, bits=5))
    write("packs/main.G.flags.dat", dat([9], item=5, bits=1))
    write("packs/main.G.counts.dat", dat([2], item=1, bits=16))


def headers():
    good = dat([2, 3])
    files = {
        "truncated": good[:100],
        "empty": b"",
        "magic": dat([2, 3], magic=b"NE"),
        "version": dat([2, 3], version=0x0002),
        "rank": dat([2, 3], words={2: 9}),
        "overflow": dat([], data=b"", words={1: 0, 2: 3, 3: 1 << 30, 4: 1 << 30, 5: 1 << 30}),
        "huge": dat([], data=b"", words={1: 0, 2: 2, 3: 1 << 31, 4: 1 << 31}),
        "length": dat([2, 3], length=23),
        "cut": good[:-1],
        "vendor": dat([2, 3], item=0x10000),
        "item": dat([2, 3], item=6),
        "bits": dat([2, 3], bits=24),
        "integers": dat([2, 3], item=4),
        "shape": dat([3, 2]),
        "axes": dat([6]),
    }
    for name, data in files.items():
        write(f"headers/{name}.sknd", ONE_VARIABLE.replace("TYPE", "real"))
        write(f"headers/{name}.G.w.dat", data)
    odd = {
        "trailing": good + b"1234567",
        "old_header": good[:128] + bytes(4) + good[128:],
        "extents": dat([2, 3], words={5: 7}),
        "range": dat([2, 3], item=2, bits=8,
                     words={13: 0, 14: struct.unpack("<I", struct.pack("<f", 2.0))[0]}),
    }
    for name, data in odd.items():
        write(f"odd/{name}.sknd", ONE_VARIABLE.replace("TYPE", "real"))
        write(f"odd/{name}.G.w.dat", data)
    write("odd/signed.sknd", ONE_VARIABLE.replace("TYPE", "int"))
    write("odd/signed.G.w.dat", dat([2, 3], item=1, words={13: 1}))


def archives():
    operator, graph = TWO_LAYERS.split("\n\n")
    calls = graph.replace("layer(", "blocks.scale.layer(")
    main = ("main.sknd", f"import blocks.scale;\n\n{calls}".encode())
    blocks = ("blocks/scale.sknd", f"public {operator}\n".encode())
    data = [("main.G.first.w.dat", dat([3])), ("main.G.second.w.dat", dat([3]))]
    model = [main, blocks, *data]
    inside = [("net/" + name, text) for name, text in model]
    write("net.tar", tar([("./" + name, text) for name, text in model]))
    write("net.tgz", gzip.compress(tar(inside), mtime=0))
    write("net.tar.gz", gzip.compress(tar(model), mtime=0))
    write("net.tar.bz2", bz2.compress(tar(model)))
    write("net.tar.xz", lzma.compress(tar(inside)))
    write("net.zip", zipped(inside + [("__MACOSX/net/._main.sknd", b"x")]))
    write("wrong.zip", zipped([("net/main.sknd", ONE_VARIABLE.replace("TYPE", "int").encode()),
                               ("net/w.dat", dat([2, 3]))]))
    write("traversal.tar", tar([main, ("../../outside.dat", b"x")]))
    write("absolute.tar", tar([main, ("/etc/outside.dat", b"x")]))
    write("symlink.tar", tar([main, link("w.dat", "/etc/passwd")]))
    write("hardlink.tar", tar([main, link("w.dat", "main.sknd", tarfile.LNKTYPE)]))
    write("twice.tar", tar([main, main]))
    write("truncated.tar", tar(model)[:1000])
    write("truncated.tgz", gzip.compress(tar(model), mtime=0)[:-200])
    write("encrypted.zip", encrypted(zipped([main])))
    write("text.zip", "no archive\n")
    write("no_main.zip", zipped([data[0]]))
    write("nnef1.zip", zipped([("graph.nnef", b"version 1.0;\n")]))
    write("bomb.zip", zipped([main, ("main.G.first.w.dat", bytes(20 << 20))]))


if __name__ == "__main__":
    shutil.rmtree(HERE, ignore_errors=True)
    models()
    headers()
    archives()
