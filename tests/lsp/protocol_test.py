#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The language server and messages as no client sends them: garbage, limits, wrong order, and ends
without notice. Prints `N passed, M failed`."""
import argparse
import json
import pathlib
import sys
import tempfile
import time

sys.path.insert(0, str(pathlib.Path(__file__).parent))
from client import Client

GOOD = """import nn;

graph main {
    @input { x: real[1, 4]; }
    @output { y: real[1, 4]; }
    @compose { y = nn.relu(x); }
}
"""


def started(lemma, *options):
    client = Client(lemma, *options)
    client.initialize()
    return client


def test_life(lemma):
    client = Client(lemma, "--stdio")
    before = client.request_whole("textDocument/hover", {})
    assert before["error"]["code"] == -32002, before
    result = client.initialize()
    assert result["capabilities"]["positionEncoding"] == "utf-16"
    assert result["serverInfo"]["name"] == "lemma"
    again = client.request_whole("initialize", {})
    assert again["error"]["code"] == -32600
    unknown = client.request_whole("no/such", {})
    assert unknown["error"]["code"] == -32601
    client.request("shutdown", None)
    late = client.request_whole("textDocument/hover", {})
    assert late["error"]["code"] == -32600
    client.notify("exit", None)
    assert client.process.wait(10) == 0


def test_exit_without_shutdown(lemma):
    client = started(lemma)
    client.notify("exit", None)
    assert client.process.wait(10) == 1


def test_end_of_input(lemma):
    client = started(lemma)
    client.process.stdin.close()
    assert client.process.wait(10) == 1


def test_garbage(lemma):
    client = started(lemma)
    for bytes_, code in [
            (b"hello world\r\n\r\n", -32700),
            (b"Content-Length: x\r\n\r\n", -32700),
            (b"Content-Type: text\r\n\r\n", -32700),
            (b"Content-Length: 5\r\n\r\n{bad}", -32700),
            (b"Content-Length: 2\r\n\r\n[]", -32600),
            (b"Content-Length: 2\r\n\r\n{}", -32600),
            (b"Content-Length: 0\r\n\r\n", -32700),
            (b'Content-Length: 31\r\n\r\n{"jsonrpc":"2.0","method":12  }', -32600),
            (b"Content-Length: 4\r\n\r\n\"\xff\xfe\"", -32700),
            (b"Content-Length: 100000\r\n\r\n" + b"[" * 100000, -32700),
            (b"\x00\xff" * 10000 + b"\n\n", -32700)]:
        client.send_bytes(bytes_)
        message = client.receive(10)
        assert message["error"]["code"] == code and message["id"] is None, (bytes_[:40], message)
    uri = "untitled:one"
    client.open(uri, GOOD)
    assert client.wait_diagnostics(uri, 1) == []
    assert client.close() == 0


def test_message_limit(lemma):
    client = started(lemma, "--max-message=4096")
    body = json.dumps({"jsonrpc": "2.0", "id": 7, "method": "x", "params": "y" * 10000}).encode()
    client.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    message = client.receive(10)
    assert message["error"]["code"] == -32700 and "4096" in message["error"]["message"], message
    assert client.close() == 0


def test_split_messages(lemma):
    client = started(lemma)
    body = json.dumps({"jsonrpc": "2.0", "id": "abc", "method": "no/such"}).encode()
    for byte in b"content-length:  %d \r\nX-Other: 1\r\n\r\n" % len(body) + body:
        client.send_bytes(bytes([byte]))
    assert client.receive(10)["id"] == "abc"
    assert client.close() == 0


def test_wrong_params(lemma):
    client = started(lemma)
    capabilities = ["hover", "completion", "signatureHelp", "definition", "references", "rename",
                    "prepareRename", "documentSymbol", "foldingRange", "formatting",
                    "rangeFormatting", "onTypeFormatting", "codeAction", "inlayHint",
                    "documentLink", "semanticTokens/full",
                    "semanticTokens/range", "prepareCallHierarchy", "documentHighlight"]
    for params in [None, [], {}, 5, {"textDocument": 5}, {"textDocument": {"uri": 7}},
                   {"textDocument": {"uri": "file:///not/open.sknd"}}]:
        for name in capabilities:
            message = client.request_whole(f"textDocument/{name}", params)
            assert message["error"]["code"] == -32602, (name, params, message)
        for name in ["textDocument/didOpen", "textDocument/didChange", "textDocument/didClose",
                     "workspace/didChangeWatchedFiles", "workspace/didChangeWorkspaceFolders"]:
            client.notify(name, params)
    uri = "untitled:two"
    client.open(uri, GOOD)
    for position in [None, 5, {}, {"line": -1, "character": -1}, {"line": 1 << 40, "character": 9},
                     {"line": 5, "character": 1 << 62}, {"line": "a", "character": []}]:
        for name in capabilities:
            client.request_whole(f"textDocument/{name}", {
                "textDocument": {"uri": uri}, "position": position, "newName": "z",
                "range": {"start": position, "end": position}, "ch": "}",
                "context": {"diagnostics": 3}})
    for name in ["workspace/symbol", "callHierarchy/incomingCalls", "callHierarchy/outgoingCalls"]:
        for params in [None, 5, {}, {"item": 5}, {"item": {"uri": uri}}]:
            client.request_whole(name, params)
    assert client.close() == 0


def test_incremental_edits(lemma):
    """Positions count UTF-16 units, or what the client offers first."""
    uri = "untitled:three"
    for encodings, column in [(None, 6), (["utf-8"], 9), (["utf-32", "utf-16"], 5)]:
        client = Client(lemma)
        client.initialize(capabilities={"general": {"positionEncodings": encodings}}
                          if encodings else {})
        client.open(uri, "# \U0001F600é x\r\n" + GOOD)
        assert client.wait_diagnostics(uri, 1) == []
        # The character before `x` is a blank; a line end there puts `x` on a line of its own.
        place = {"line": 0, "character": column}
        client.change(uri, 2, [{"range": {"start": place, "end": place}, "text": "\n"}])
        found = client.wait_diagnostics(uri, 2)
        assert found and found[0]["range"]["start"] == {"line": 1, "character": 0}, found
        client.change(uri, 3, [{"text": GOOD}])
        assert client.wait_diagnostics(uri, 3) == []
        assert client.close() == 0


def test_buffers_over_files(lemma):
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder).resolve()
        main, block = folder / "main.sknd", folder / "block.sknd"
        main.write_text(GOOD.replace("import nn", "import block").replace("nn.relu", "block.f"))
        block.write_text("operator f {\n    @input { a: real[..]; }\n}\n")
        good = ("operator f {\n    @input { a: real[s..]; }\n    @output { b: real[s..]; }\n"
                "    @lower { b[i..] = a[i..], i < s; }\n}\n")
        client = Client(lemma)
        client.initialize([folder.as_uri()])
        client.open(main.as_uri(), main.read_text())
        client.wait_diagnostics(main.as_uri(), 1)
        while block.as_uri() not in client.diagnostics:
            client.receive(10)
        assert client.diagnostics[block.as_uri()][1]  # the file is wrong
        client.open(block.as_uri(), good)
        assert client.wait_diagnostics(block.as_uri(), 1) == []
        end = time.monotonic() + 10
        while client.diagnostics[block.as_uri()][1] and time.monotonic() < end:
            client.receive(10)
        assert client.diagnostics[block.as_uri()][1] == []
        assert client.close() == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lemma", required=True)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    passed = failed = 0
    for name, test in list(globals().items()):
        if not name.startswith("test_") or (options.names and name not in options.names):
            continue
        try:
            test(options.lemma)
            passed += 1
        except Exception as error:  # pylint: disable=broad-except
            failed += 1
            print(f"{name}: {type(error).__name__}: {error}")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
