#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `lemma view` as a browser and as an attacker would use it: the page and its endpoints, requests
from elsewhere, garbage and slow clients, and models whose names are markup."""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest

ARGUMENTS = argparse.Namespace(lemma="lemma")
WORK = pathlib.Path(tempfile.mkdtemp(prefix="lemma-view-test-"))
MARKUP = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>"

NET = """import nn;
graph Net {
    @input { x: real[1, 3, 8, 8]; }
    @variable { w: real[4, 3, 3, 3]; b: real[4]; }
    @output { y: real[1, 4, 8, 8]; }
    @compose {
        h = nn.conv{padding=1}(x, w, b);
        y = nn.relu(h);
    }
}
"""
# Takes minutes in the interpreter.
SLOW = """import linalg;
graph Slow {
    @input { x: real[3000, 3000]; }
    @output { y: real[3000, 3000]; }
    @compose { a = linalg.matmul(x, x); y = linalg.matmul(a, a); }
}
"""
# The names of tensors and labels, and a constant, are markup.
HOSTILE = """program "@"

input %"@": f32[2]

graph "@" ("@" = %"@") {
    "@" %"y@": f32[2] = "@" "@" {"@" = "@"} ("@" = %"@") {
        %"y@"[i] = %"@"[i] + 1.0  for i < 2
    }
    yield "@" = %"y@"
}
""".replace("@", MARKUP)


def write(name: str, text: str) -> pathlib.Path:
    path = WORK / name
    path.write_text(text)
    return path


class View:
    """A server, until the end of a `with` block."""

    def __init__(self, model: pathlib.Path, *arguments: str):
        self.command = [ARGUMENTS.lemma, "view", "--no-open", *arguments, str(model)]

    def __enter__(self) -> "View":
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        address = self.process.stdout.readline()
        match = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/#token=([0-9a-f]{64})\n", address)
        assert match, (address, self.process.stderr.read() if not address else "")
        self.port, self.token = int(match[1]), match[2]
        return self

    def stop(self, how: int = signal.SIGINT) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.process.stderr.close()

    def request(self, method: str, path: str, body=None, headers=None, token: bool = True, timeout: float = 120):
        """Status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            own = {"X-Lemma-Token": self.token} if token else {}
            connection.request(method, path, body=body, headers={**own, **(headers or {})})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def json(self, method: str, path: str, body=None, **options):
        status, _, answer = self.request(method, path, None if body is None else json.dumps(body), **options)
        return status, json.loads(answer)

    def raw(self, data: bytes, timeout: float = 30) -> bytes:
        """The answer to bytes that may be no request."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=timeout) as client:
            client.sendall(data)
            client.shutdown(socket.SHUT_WR)
            answer = b""
            with contextlib.suppress(ConnectionError):
                while part := client.recv(65536):
                    answer += part
            return answer


def operations(document: dict) -> list[dict]:
    """All operations, at any depth."""
    def walk(items):
        for item in items:
            yield item
            yield from walk(item.get("parts", []))
            for body in item.get("bodies", []):
                yield from walk(body["operations"])
    return list(walk(document["graph"]["operations"]))


class Page(unittest.TestCase):
    """The page and its endpoints. One server for all tests."""

    @classmethod
    def setUpClass(cls):
        cls.view = View(write("net.sknd", NET))
        cls.view.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.view.__exit__()

    def test_page(self):
        status, headers, page = self.view.request("GET", "/", token=False)
        self.assertEqual(status, 200)
        self.assertEqual(headers["Content-Type"], "text/html; charset=utf-8")
        self.assertIn(b"<html", page)
        self.assertNotIn(self.view.token.encode(), page)
        self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
        self.assertEqual(headers["Cache-Control"], "no-store")
        self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
        self.assertIn("frame-ancestors 'none'", headers["Content-Security-Policy"])
        self.assertNotIn("unsafe-eval", headers["Content-Security-Policy"])

    def test_document(self):
        status, document = self.view.json("GET", "/api/document")
        self.assertEqual((status, document["schema"], document["live"]), (200, 1, True))
        self.assertEqual(document["model"]["format"], "sknd")
        ids = [item["id"] for item in operations(document)]
        self.assertEqual(len(ids), len(set(ids)))
        conv = document["graph"]["operations"][0]
        self.assertEqual((conv["title"], conv["definition"]), ("conv", "nn.conv"))
        self.assertIn("groups", conv["defaults"])
        self.assertIn("nn.conv", document["definitions"])
        self.assertEqual(document["sources"][0]["text"], NET)
        for missing in ("times", "errors", "tensors"):
            self.assertNotIn(missing, document)

    def test_run_and_tensor(self):
        status, answer = self.view.json("GET", "/api/tensor?name=w")
        self.assertEqual(status, 422, answer)
        self.assertIn("no data", answer["error"])
        status, answer = self.view.json("POST", "/api/run", {"seed": 7})
        self.assertEqual(status, 200, answer)
        self.assertEqual(set(answer["tensors"]), {"x", "h", "y"})
        self.assertEqual(answer["tensors"]["h"]["shape"], [1, 4, 8, 8])
        self.assertEqual(sum(answer["tensors"]["h"]["histogram"]["counts"]), 256)
        self.assertGreaterEqual(answer["tensors"]["y"]["min"], 0)
        status, answer = self.view.json("GET", "/api/tensor?name=h&index=0,2&axis=3")
        self.assertEqual((status, answer["slice"]["shape"], answer["slice"]["of"]), (200, [8, 8], "[0, 2, :, :]"))
        self.assertEqual(self.view.json("POST", "/api/run", {"seed": "x"})[0], 422)
        self.assertEqual(self.view.json("GET", "/api/tensor?name=h&index=a")[0], 422)
        self.assertEqual(self.view.json("GET", "/api/tensor?name=none")[0], 422)
        self.assertEqual(self.view.json("GET", "/api/tensor")[0], 422)

    def test_profile(self):
        status, times = self.view.json("POST", "/api/profile", {"threads": 1})
        self.assertEqual(status, 200, times)
        self.assertEqual(times["threads"], 1)
        self.assertGreater(times["total_ms"], 0)
        self.assertIn("0", times["operations"])
        self.assertTrue(all(kernel["operations"] for kernel in times["kernels"]))
        self.assertEqual(self.view.json("POST", "/api/profile", {"threads": 0})[0], 422)

    def test_compare(self):
        status, errors = self.view.json("POST", "/api/compare", {})
        self.assertEqual(status, 200, errors)
        self.assertEqual(set(errors["operations"]), {"0", "1"})
        for error in errors["operations"].values():
            self.assertLess(error["max_rel"], 1e-5)

    def test_memory_and_kernels(self):
        status, memory = self.view.json("GET", "/api/memory")
        self.assertEqual(status, 200, memory)
        self.assertGreater(memory["steps"], 0)
        for block in memory["blocks"]:
            self.assertLessEqual(block["first"], block["last"])
            self.assertLessEqual(block["offset"] + block["bytes"], memory["arena_bytes"])
        status, kernels = self.view.json("GET", "/api/kernels?operation=0")
        self.assertEqual(status, 200, kernels)
        self.assertTrue(any("for " in kernel.get("loops", "") for kernel in kernels), kernels)
        self.assertEqual(self.view.json("GET", "/api/kernels?operation=99999"), (200, []))
        self.assertEqual(self.view.json("GET", "/api/kernels?operation=x")[0], 422)

    # ---- Requests from elsewhere ----

    def test_token(self):
        for headers in ({}, {"X-Lemma-Token": ""}, {"X-Lemma-Token": "0" * 64}, {"X-Lemma-Token": self.view.token[:-1]}):
            status, _, answer = self.view.request("GET", "/api/document", headers=headers, token=False)
            self.assertEqual(status, 401, headers)
            self.assertNotIn(b"graph", answer)
        self.assertEqual(self.view.request("GET", f"/api/document?token={self.view.token}", token=False)[0], 401)

    def test_foreign_host(self):
        for host in ("evil.example", f"evil.example:{self.view.port}", "127.0.0.1", f"127.0.0.1:{self.view.port + 1}"):
            for path in ("/", "/api/document"):
                self.assertEqual(self.view.request("GET", path, headers={"Host": host})[0], 421, host)
        self.assertEqual(self.view.request("GET", "/", headers={"Host": f"localhost:{self.view.port}"})[0], 200)

    def test_foreign_origin(self):
        for origin in ("null", "http://evil.example", f"https://127.0.0.1:{self.view.port}"):
            for method, path in (("GET", "/api/document"), ("POST", "/api/run")):
                status, headers, _ = self.view.request(method, path, headers={"Origin": origin})
                self.assertEqual(status, 403, origin)
                self.assertNotIn("Access-Control-Allow-Origin", headers)
        own = f"http://127.0.0.1:{self.view.port}"
        self.assertEqual(self.view.request("GET", "/api/document", headers={"Origin": own})[0], 200)
        self.assertEqual(self.view.request("GET", "/api/document", headers={"Sec-Fetch-Site": "cross-site"})[0], 403)
        self.assertIn(self.view.request("OPTIONS", "/api/run", headers={"Origin": "http://evil.example"})[0], (403, 405))

    def test_other_paths(self):
        for path in ("/net.sknd", "/../net.sknd", "/..%2fnet.sknd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd",
                     "/api", "/api/", "/api/../", "/api/tensor/../../etc/passwd", "/api/none", "/index.html",
                     "/" + "a" * 5000):
            status, _, answer = self.view.request("GET", path)
            self.assertEqual(status, 404, path)
            self.assertNotIn(b"root:", answer)
        self.assertEqual(self.view.json("GET", "/api/tensor?name=../../etc/passwd")[0], 422)

    def test_methods(self):
        for method, path in (("POST", "/"), ("PUT", "/"), ("DELETE", "/api/document"), ("GET", "/api/run"),
                             ("POST", "/api/memory")):
            status, headers, _ = self.view.request(method, path)
            self.assertEqual(status, 405, (method, path))
            self.assertIn("Allow", headers)

    # ---- Hostile clients ----

    def test_bodies(self):
        for body in (b"x", b"[]", b"\xff\xfe", b"[" * 60000, b'{"seed": 1.5}', b'{"seed": null}'):
            self.assertEqual(self.view.request("POST", "/api/run", body)[0], 422, body[:20])
        status, _, answer = self.view.request("POST", "/api/run", b"{" + b" " * 200_000)
        self.assertEqual(status, 413, answer)

    def test_garbage(self):
        for data in (b"\x00" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                     b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\nHost: x\r\n\r\n",
                     b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000 + b"\r\n",
                     b"POST /api/run HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
                     b"POST /api/run HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"):
            answer = self.view.raw(data)
            self.assertFalse(answer.startswith(b"HTTP/1.1 200"), data[:40])
        self.assertEqual(self.view.request("GET", "/")[0], 200)

    def test_slow_clients(self):
        """Clients that send a byte now and then do not keep the page from others, and are cut off."""
        clients = [socket.create_connection(("127.0.0.1", self.view.port)) for _ in range(8)]
        begin = time.monotonic()
        try:
            for client in clients:
                client.sendall(b"GET / HT")
            self.assertEqual(self.view.request("GET", "/")[0], 200)
            open_clients = set(clients)
            while open_clients and time.monotonic() - begin < 40:
                time.sleep(0.5)
                for client in list(open_clients):
                    try:
                        client.sendall(b"X")
                    except OSError:
                        open_clients.discard(client)
            self.assertFalse(open_clients, "slow clients are still connected")
        finally:
            for client in clients:
                client.close()
        self.assertEqual(self.view.request("GET", "/")[0], 200)


class Models(unittest.TestCase):
    """Other models and ends."""

    def test_broken_model(self):
        with View(write("broken.sknd", NET.replace("nn.relu", "nn.rely"))) as view:
            status, document = view.json("GET", "/api/document")
            self.assertEqual((status, document["graph"]), (200, None))
            self.assertEqual(document["diagnostics"][0]["kind"], "no-operator")
            self.assertIn("# no-operator", document["diagnostics"][0]["page"])
            self.assertEqual(view.json("POST", "/api/run", {})[0], 422)
            self.assertEqual(view.stop(), 0)

    def test_page_of_a_broken_model(self):
        model = write("broken.sknd", NET.replace("nn.relu", "nn.rely"))
        page = WORK / "broken.html"
        ended = subprocess.run([ARGUMENTS.lemma, "view", str(model), f"--html={page}"],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"the model is wrong; `{page}` shows how", ended.stderr)
        self.assertIn("no-operator", page.read_text())

    def test_missing_model(self):
        ended = subprocess.run([ARGUMENTS.lemma, "view", "--no-open", str(WORK / "none.onnx")],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 2)
        self.assertIn("there is no such file", ended.stderr)

    def test_port_in_use(self):
        with View(write("net.sknd", NET)) as view:
            ended = subprocess.run([ARGUMENTS.lemma, "view", "--no-open", f"--port={view.port}",
                                    str(WORK / "net.sknd")], capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 2)
            self.assertIn("cannot listen", ended.stderr)

    def test_listens_on_loopback_only(self):
        with View(write("net.sknd", NET)) as view:
            listening = [line.split() for line in pathlib.Path("/proc/net/tcp").read_text().splitlines()[1:]]
            ours = [line[1] for line in listening if line[3] == "0A" and line[1].endswith(f":{view.port:04X}")]
            self.assertEqual(ours, [f"0100007F:{view.port:04X}"])

    def test_one_at_a_time_and_end(self):
        """A long comparison ends with the server; others wait for it meanwhile."""
        with View(write("slow.sknd", SLOW)) as view:
            answers = []
            threads = [threading.Thread(target=lambda: answers.append(view.json("POST", "/api/compare", {})))
                       for _ in range(2)]
            for thread in threads:
                thread.start()
            time.sleep(1)
            self.assertEqual(view.request("GET", "/api/document")[0], 200)  # the quick ones do not wait
            begin = time.monotonic()
            self.assertEqual(view.stop(signal.SIGTERM), 0)
            self.assertLess(time.monotonic() - begin, 20)
            for thread in threads:
                thread.join(timeout=30)
            self.assertEqual([status for status, _ in answers], [503, 503], answers)

    def test_browser(self):
        """With a display, xdg-open gets the address."""
        tools = WORK / "tools"
        tools.mkdir(exist_ok=True)
        script = tools / "xdg-open"
        script.write_text(f"#!/bin/sh\necho \"$1\" > {WORK}/opened\n")
        script.chmod(0o755)
        environment = {**os.environ, "DISPLAY": ":99", "PATH": f"{tools}:{os.environ['PATH']}"}
        process = subprocess.Popen([ARGUMENTS.lemma, "view", str(write("net.sknd", NET))], env=environment,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        try:
            address = process.stdout.readline()
            end = time.monotonic() + 30
            while not (WORK / "opened").exists() or not (WORK / "opened").read_text():
                self.assertLess(time.monotonic(), end)
                time.sleep(0.05)
            self.assertEqual((WORK / "opened").read_text(), address)
        finally:
            process.send_signal(signal.SIGINT)
            self.assertEqual(process.wait(timeout=30), 0)
            process.stdout.close()
            process.stderr.close()


class Files(unittest.TestCase):
    """Pages in one file."""

    def html(self, model: pathlib.Path, *arguments: str, status: int = 0) -> tuple[str, dict]:
        out = WORK / "page.html"
        ended = subprocess.run([ARGUMENTS.lemma, "view", f"--html={out}", *arguments, str(model)],
                               capture_output=True, text=True, timeout=300)
        self.assertEqual(ended.returncode, status, ended.stderr)
        page = out.read_text()
        documents = re.findall(r'<script type="application/json" id="lemma-document">(.*?)</script>', page, re.DOTALL)
        self.assertEqual(len(documents), 1)
        return page, json.loads(documents[0])

    def test_structure_only(self):
        _, document = self.html(write("net.sknd", NET))
        self.assertFalse(document["live"])
        for missing in ("times", "tensors", "kernels", "memory"):
            self.assertNotIn(missing, document)

    def test_measurements(self):
        _, document = self.html(write("net.sknd", NET), "--times", "--run", "--weights")
        self.assertIn("0", document["times"]["operations"])
        self.assertIn("h", document["tensors"])
        self.assertGreater(len(document["kernels"]), 0)
        self.assertIn("arena_bytes", document["memory"])

    def test_recorded_times(self):
        model = write("net.sknd", NET)
        bench = subprocess.run([ARGUMENTS.lemma, "bench", "--profile", "--json", "--runs=2", str(model)],
                               capture_output=True, text=True, timeout=300)
        self.assertEqual(bench.returncode, 0, bench.stderr)
        _, document = self.html(model, f"--times={write('times.json', bench.stdout)}")
        self.assertIn("0", document["times"]["operations"])
        self.assertNotIn("kernels", document)

    def test_comparison(self):
        out = WORK / "diff.html"
        changed = write("changed.sknd", NET.replace("nn.relu", "nn.sigmoid"))
        ended = subprocess.run([ARGUMENTS.lemma, "diff", f"--html={out}", "--run", "--random-weights",
                                str(write("net.sknd", NET)), str(changed)],
                               capture_output=True, text=True, timeout=300)
        self.assertEqual(ended.returncode, 1, ended.stderr)
        page = out.read_text()
        block = re.findall(r'id="lemma-document">(.*?)</script>', page, re.DOTALL)
        document = json.loads(block[0])
        self.assertEqual(document["model"]["name"], "net.sknd against changed.sknd")
        diff = document["diff"]
        ids = [{operation["id"] for operation in diff[side]["operations"]} for side in "ab"]
        for pair in diff["pairs"]:
            self.assertIn(pair[2], ("equal", "changed"))
        self.assertTrue(any(pair[0] in ids[0] and pair[1] in ids[1] for pair in diff["pairs"]))
        self.assertTrue(diff["changes"] or diff["only_a"])
        self.assertGreater(len(diff["numbers"]), 0)

    def test_broken_model(self):
        _, document = self.html(write("broken.sknd", NET.replace("nn.relu", "nn.rely")), "--times", status=1)
        self.assertIsNone(document["graph"])

    def test_hostile_names_stay_inert(self):
        page, document = self.html(write("hostile.ir", HOSTILE))
        self.assertEqual(document["graph"]["graph"], MARKUP)
        self.assertEqual(document["graph"]["operations"][0]["attributes"], {MARKUP: MARKUP})
        self.assertNotIn("alert(1)</script>", page)
        self.assertNotIn("<img src=x", page)
        self.assertNotIn("<!--<img", page)

    def test_hostile_file_name(self):
        model = write("a<!--<script>alert(3).sknd", NET)
        page, document = self.html(model)
        self.assertEqual(document["model"]["name"], model.name)
        self.assertNotIn("alert(3)", page.replace("\\u003cscript>alert(3)", ""))

    def test_huge_attribute(self):
        text = HOSTILE.replace(f'"{MARKUP}" = "{MARKUP}"', '"a" = "%s"' % ("<" * 500_000), 1)
        page, document = self.html(write("huge.ir", text))
        self.assertEqual(len(document["graph"]["operations"][0]["attributes"]["a"]), 500_000)
        self.assertNotIn("<" * 3, page)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--lemma", default="lemma")
    ARGUMENTS, rest = parser.parse_known_args()
    unittest.main(argv=[sys.argv[0], *rest], verbosity=2)
