#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Random edits of thirty models, sent to the language server. At every 100th edit of a model, the
server's diagnostics are those of a fresh `lemma check --json`. The server must not end, and its
memory must not grow with the number of edits. Prints `N passed, M failed`: a comparison is a case,
and so is the memory.

    random_edits_test.py --lemma=build/release/lemma --edits=100000
"""
import argparse
import json
import pathlib
import queue
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client import Client

ROOT = pathlib.Path(__file__).parents[2]
MODELS = 30
EVERY = 100
MAX_GROWTH_KIB = 200 * 1024  # of the server, from the first comparisons to the end

WORDS = ["(", ")", "[", "]", "{", "}", ";", ",", "=", ":", "..", ".", "nn.relu", "x", "real", "int",
         "graph", "operator", "import", "@input", "@compose", "if", "then", "else", "# ", "'", "\n",
         "\r\n", "\U0001F600", "é", " ", "1", "0.5", "-", "<", "~", "?", "external", "fragment",
         "shape_of", "\t", "\\", "\"", "`", "|", "&&"]


def models():
    """Thirty models with their names: examples and golden files of both languages."""
    found = sorted((ROOT / "examples").glob("*/main.sknd"))
    for folder, ending in [("compose", "sknd"), ("nnef1", "nnef"), ("check", "sknd"), ("run", "sknd")]:
        found += sorted((ROOT / "tests/golden").glob(f"{folder}/*.{ending}"))[:8]
    found += sorted((ROOT / "examples").glob("nnef1/**/*.nnef"))
    rest = sorted((ROOT / "tests/golden").glob("**/*.sknd"))
    for path in rest:
        if len(found) >= MODELS:
            break
        if path not in found:
            found.append(path)
    return found[:MODELS]


class Text:
    """A text that is edited in the server and here."""

    def __init__(self, client, path, text, chance):
        self.client, self.path, self.chance = client, path, chance
        self.original = self.text = text
        self.uri = path.as_uri()
        self.version = 1
        client.open(self.uri, text, language="nnef" if path.suffix == ".nnef" else "skriptnd")

    def position(self, offset):
        """In UTF-16 units; lines end with LF, CR or CRLF."""
        before = self.text[:offset]
        lines = before.replace("\r\n", "\n").replace("\r", "\n").split("\n")
        return {"line": len(lines) - 1, "character": len(lines[-1].encode("utf-16-le")) // 2}

    def between_characters(self, offset):
        """A position inside of CRLF cannot be expressed."""
        inside = 0 < offset < len(self.text) and self.text[offset - 1:offset + 1] == "\r\n"
        return offset - 1 if inside else offset

    def edit(self):
        self.version += 1
        # Now and then it becomes a good text again, as users make it.
        if self.chance.random() < 0.02 or len(self.text) > 4 * len(self.original) + 1000:
            self.text = self.original
            self.client.change(self.uri, self.version, [{"text": self.text}])
            return
        changes = []
        for _ in range(self.chance.choice([1, 1, 1, 2])):
            begin = self.between_characters(self.chance.randrange(len(self.text) + 1))
            length = self.chance.choice([0, 0, 0, 1, 1, 2, 5, 20])
            end = self.between_characters(min(len(self.text), begin + length))
            end = max(begin, end)
            text = self.new_text()
            changes.append({"range": {"start": self.position(begin), "end": self.position(end)},
                            "text": text})
            self.text = self.text[:begin] + text + self.text[end:]
        self.client.change(self.uri, self.version, changes)

    def new_text(self):
        kind = self.chance.random()
        if kind < 0.3:
            return ""
        if kind < 0.8:
            return self.chance.choice(WORDS)
        begin = self.chance.randrange(len(self.original))
        return self.original[begin:begin + self.chance.randrange(60)]


def place(item):
    return (item["range"]["start"]["line"], item["range"]["start"]["character"])


def told(diagnostics):
    """Of the server: place, severity, kind and message."""
    return sorted((*place(item), item["severity"], item.get("code", ""), item["message"])
                  for item in diagnostics if item["severity"] < 3)


def expected(lemma, text):
    """Of `lemma check` for the same text in a file."""
    text.path.write_bytes(text.text.encode())
    done = subprocess.run([lemma, "check", "--json", str(text.path)], capture_output=True, check=False)
    if done.returncode not in (0, 1, 2):
        raise RuntimeError(f"lemma check: status {done.returncode}")
    lines = text.text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    found = []
    for item in json.loads(done.stdout)["diagnostics"]:
        notes = "".join("\n" + note["message"] for note in item["notes"] if "file" not in note)
        line = column = 0
        if item.get("file") == str(text.path) and item.get("line"):
            line = item["line"] - 1
            column = len(lines[line][:item["column"] - 1].encode("utf-16-le")) // 2
        found.append((line, column, 1 if item["severity"] == "error" else 2, item["kind"],
                      item["message"] + notes))
    return sorted(found)


def memory_kib(client):
    status = pathlib.Path(f"/proc/{client.process.pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def wait(client, text):
    try:
        return client.wait_diagnostics(text.uri, text.version, 120)
    except queue.Empty:
        raise RuntimeError(f"no diagnostics of {text.path}") from None


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lemma", required=True)
    parser.add_argument("--edits", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 30))
    options = parser.parse_args()
    print(f"seed {options.seed}")
    chance = random.Random(options.seed)
    passed = failed = edits = 0
    first_memory = None
    with tempfile.TemporaryDirectory() as folder:
        client = Client(options.lemma, "--delay-ms=0")
        client.initialize()
        texts = []
        for i, model in enumerate(models()):
            own = pathlib.Path(folder).resolve() / str(i)
            own.mkdir()
            name = "graph.nnef" if model.suffix == ".nnef" else "main.sknd"
            source = model.read_text()
            for other in model.parent.glob("*.sknd") if "examples" in model.parts else []:
                (own / other.name).write_text(other.read_text())
            texts.append(Text(client, own / name, source, chance))
        while edits < options.edits:
            text = texts[chance.randrange(len(texts))]
            for _ in range(EVERY):
                text.edit()
                edits += 1
                if chance.random() < 0.05:
                    wait(client, text)
            found, wanted = told(wait(client, text)), expected(options.lemma, text)
            if found == wanted:
                passed += 1
            else:
                failed += 1
                print(f"edit {edits}, {text.path}:\n  server {found[:3]}\n  check  {wanted[:3]}")
            if first_memory is None and edits >= min(3000, options.edits // 2):
                first_memory = memory_kib(client)
        growth = memory_kib(client) - first_memory
        print(f"{edits} edits, memory {memory_kib(client)} KiB, growth {growth} KiB")
        if growth > MAX_GROWTH_KIB:
            failed += 1
            print(f"memory: more than {MAX_GROWTH_KIB} KiB")
        else:
            passed += 1
        if client.close() != 0:
            failed += 1
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
