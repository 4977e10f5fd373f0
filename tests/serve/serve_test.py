#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests `lemma serve` with clients that are not ours: Python's HTTP client, curl, and gRPC stubs that
Debian's tools generate from the protocol. Also hostile clients: garbage, oversized and slow ones."""
import argparse
import concurrent.futures
import json
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

from server import DOUBLE, SLOW, TRIPLE, TYPES, Serve, free_port, open_files, stubs, write_counter, write_model

ARGUMENTS = argparse.Namespace(lemma="lemma")
WORK = pathlib.Path(tempfile.mkdtemp(prefix="lemma-serve-test-"))


def row(*numbers: float, name: str = "x") -> dict:
    return {"inputs": [{"name": name, "shape": [1, 3], "datatype": "FP32", "data": numbers}]}


def binary(rows: list[tuple], outputs: bool = True) -> tuple[bytes, dict]:
    """A body with the rows as bytes, and its headers."""
    data = b"".join(struct.pack("<3f", *one) for one in rows)
    document = {"inputs": [{"name": "x", "shape": [len(rows), 3], "datatype": "FP32",
                            "parameters": {"binary_data_size": len(data)}}]}
    if outputs:
        document["parameters"] = {"binary_data_output": True}
    text = json.dumps(document).encode()
    return text + data, {"Inference-Header-Content-Length": str(len(text))}


class Http(unittest.TestCase):
    """Every path, and wrong requests. One server for all tests."""

    @classmethod
    def setUpClass(cls):
        models = WORK / "http"
        write_model(models / "m/1", "main.sknd", DOUBLE)
        write_model(models / "m/2", "main.sknd", TRIPLE)
        types = write_model(models, "types.sknd", TYPES)
        counter = write_counter(models / "counter")
        cls.serve = Serve(ARGUMENTS.lemma, f"m={models / 'm'}", f"types={types}", f"counter={counter}",
                          "--max-body=100000", "--client-timeout=2", grpc=False)
        cls.serve.__enter__()

    @classmethod
    def tearDownClass(cls):
        cls.serve.__exit__()

    def test_health_and_metadata(self):
        self.assertEqual(self.serve.json("GET", "/v2/health/live"), (200, {"live": True}))
        self.assertEqual(self.serve.json("GET", "/v2/health/ready"), (200, {"ready": True}))
        status, server = self.serve.json("GET", "/v2")
        self.assertEqual((status, server["name"], server["extensions"]), (200, "lemma", ["binary_tensor_data"]))
        self.assertEqual(self.serve.json("GET", "/v2/models/m/ready"), (200, {"name": "m", "ready": True}))
        self.assertEqual(self.serve.json("GET", "/v2/models/m/versions/1/ready"),
                         (200, {"name": "m", "ready": True}))
        status, model = self.serve.json("GET", "/v2/models/m/versions/1")
        self.assertEqual(status, 200)
        self.assertEqual(model, {"name": "m", "versions": ["1", "2"], "platform": "lemma_sknd",
                                 "inputs": [{"name": "x", "datatype": "FP32", "shape": [-1, 3]}],
                                 "outputs": [{"name": "y", "datatype": "FP32", "shape": [-1, 3]}]})

    def test_versions(self):
        for version, factor in (("/versions/1", 2), ("/versions/2", 3), ("", 3)):
            status, answer = self.serve.json("POST", f"/v2/models/m{version}/infer", row(1, 2, 3))
            self.assertEqual(status, 200)
            self.assertEqual(answer["model_version"], "1" if factor == 2 else "2")
            self.assertEqual(answer["outputs"][0]["data"], [factor, 2 * factor, 3 * factor])

    def test_id_and_outputs(self):
        status, answer = self.serve.json("POST", "/v2/models/m/infer",
                                         {"id": "é1", "outputs": [{"name": "y"}], **row(1, 2, 3)})
        self.assertEqual((status, answer["id"], len(answer["outputs"])), (200, "é1", 1))

    def test_types(self):
        status, answer = self.serve.json("POST", "/v2/models/types/infer", {"inputs": [
            {"name": "r", "shape": [], "datatype": "FP32", "data": [1.5]},
            {"name": "b", "shape": [2], "datatype": "BOOL", "data": [True, False]},
            {"name": "i", "shape": [2], "datatype": self.integer(), "data": [[5, -7]][0]}]})
        self.assertEqual(status, 200, answer)
        values = {output["name"]: output["data"] for output in answer["outputs"]}
        self.assertEqual(values, {"k": [10, -14], "c": [False, True], "s": [-1.5]})

    def integer(self) -> str:
        return self.serve.json("GET", "/v2/models/types")[1]["inputs"][0]["datatype"]

    def test_variables_begin_anew(self):
        document = {"inputs": [{"name": "x", "shape": [1], "datatype": "FP32", "data": [5]}]}
        for _ in range(3):
            status, answer = self.serve.json("POST", "/v2/models/counter/infer", document)
            self.assertEqual(status, 200, answer)
            self.assertEqual(answer["outputs"][0]["data"], [5])

    def test_binary(self):
        body, headers = binary([(1, 2, 3), (4, 5, 6)])
        status, got, answer = self.serve.request("POST", "/v2/models/m/infer", body, headers)
        self.assertEqual(status, 200, answer)
        size = int(got["Inference-Header-Content-Length"])
        output = json.loads(answer[:size])["outputs"][0]
        self.assertEqual(output["parameters"], {"binary_data_size": 24})
        self.assertEqual(struct.unpack("<6f", answer[size:]), (3, 6, 9, 12, 15, 18))
        # Bytes in, JSON out, and the other way round for a single output.
        body, headers = binary([(1, 2, 3)], outputs=False)
        self.assertEqual(json.loads(self.serve.request("POST", "/v2/models/m/infer", body, headers)[2])
                         ["outputs"][0]["data"], [3, 6, 9])
        document = {**row(1, 2, 3), "outputs": [{"name": "y", "parameters": {"binary_data": True}}]}
        status, got, answer = self.serve.request("POST", "/v2/models/m/infer", json.dumps(document))
        self.assertEqual(struct.unpack("<3f", answer[int(got["Inference-Header-Content-Length"]):]), (3, 6, 9))

    def test_curl(self):
        ended = subprocess.run(
            ["curl", "--silent", "--fail", f"http://127.0.0.1:{self.serve.http_port}/v2/models/m/infer",
             "--header", "Content-Type: application/json", "--data", json.dumps(row(1, 2, 3))],
            capture_output=True, text=True, timeout=30)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        self.assertEqual(json.loads(ended.stdout)["outputs"][0]["data"], [3, 6, 9])

    def test_wrong_requests(self):
        cases = [
            ("GET", "/", None, 404, "no such path"),
            ("GET", "/v2/models", None, 404, "no such path"),
            ("GET", "/v2/models/q", None, 404, "no model `q`"),
            ("GET", "/v2/models/m/versions/7", None, 404, "no version `7`"),
            ("GET", "/v2/models/m/infer", None, 405, "POST only"),
            ("POST", "/v2", b"", 405, "GET"),
            ("DELETE", "/v2/models/m", None, 405, "GET"),
            ("POST", "/v2/models/q/infer", json.dumps(row(1, 2, 3)), 404, "no model"),
            ("POST", "/v2/models/m/infer", b"", 400, "JSON is wrong"),
            ("POST", "/v2/models/m/infer", b"\xff\xfe{}", 400, "JSON is wrong"),
            ("POST", "/v2/models/m/infer", b"[" * 50000, 400, "JSON is wrong"),
            ("POST", "/v2/models/m/infer", json.dumps(row(1, 2)), 400, "elements"),
            ("POST", "/v2/models/m/infer", json.dumps(row(1, 2, 3, name="z")), 400, "no input `z`"),
            ("POST", "/v2/models/m/infer", json.dumps({"inputs": []}), 400, "missing"),
        ]
        for method, path, body, wanted, text in cases:
            status, _, answer = self.serve.request(method, path, body)
            self.assertEqual(status, wanted, (method, path, answer))
            self.assertIn(text, json.loads(answer)["error"], (method, path))

    def test_garbage(self):
        for data in (b"\x00" * 1000 + b"\r\n\r\n", b"GET\r\n\r\n", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
                     b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: -5\r\n\r\nhello",
                     b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
                     b"GET /" + b"a" * 200000 + b" HTTP/1.1\r\n\r\n",
                     b"GET /v2 HTTP/1.1\r\n" + b"X-A: b\r\n" * 50000 + b"\r\n"):
            answer = self.serve.raw(data, timeout=5)
            self.assertNotIn(b"HTTP/1.1 200", answer)
        self.assertEqual(self.serve.json("GET", "/v2/health/live")[0], 200)

    def test_oversized_bodies(self):
        status, _, answer = self.serve.request("POST", "/v2/models/m/infer", b"x" * 100001)
        self.assertEqual(status, 413, answer)
        # Without a length, the body is cut off where it is too large.
        chunks = iter([b"x" * 50000] * 4)
        status, _, answer = self.serve.request("POST", "/v2/models/m/infer", chunks)
        self.assertEqual(status, 413, answer)
        head = b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999\r\n\r\n"
        self.assertIn(b" 413 ", self.serve.raw(head))

    def test_slow_clients(self):
        """A byte now and then keeps no connection alive, in the headers or in the body."""
        heads = (b"GET /v2 HTTP/1.1\r\nX-Slow: ",
                 b"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
        for head in heads:
            with socket.create_connection(("127.0.0.1", self.serve.http_port), timeout=10) as client:
                client.sendall(head)
                begin = time.monotonic()
                try:
                    while time.monotonic() - begin < 8:
                        client.sendall(b"x")
                        client.settimeout(0.3)
                        try:
                            if client.recv(1000) == b"":
                                break
                        except TimeoutError:
                            pass
                except ConnectionError:
                    pass
                self.assertLess(time.monotonic() - begin, 7)

    def test_keep_alive_and_many_connections(self):
        import http.client

        def ask(number: int) -> list:
            connection = http.client.HTTPConnection("127.0.0.1", self.serve.http_port, timeout=30)
            answers = []
            for i in range(20):
                connection.request("POST", "/v2/models/m/infer", json.dumps(row(number, i, 0)))
                answers.append(json.loads(connection.getresponse().read())["outputs"][0]["data"])
            connection.close()
            return answers

        with concurrent.futures.ThreadPoolExecutor(16) as pool:
            for number, answers in enumerate(pool.map(ask, range(16))):
                self.assertEqual(answers, [[3 * number, 3 * i, 0] for i in range(20)])

    def test_metrics_and_log(self):
        self.serve.json("POST", "/v2/models/m/infer", row(1, 2, 3))
        _, headers, text = self.serve.request("GET", "/metrics")
        self.assertTrue(headers["Content-Type"].startswith("text/plain"))
        lines = text.decode().splitlines()
        values = dict(line.rsplit(" ", 1) for line in lines if not line.startswith("#"))
        self.assertGreaterEqual(int(values['lemma_inferences_total{model="m",version="2",code="good"}']), 1)
        self.assertGreaterEqual(int(values['lemma_compute_seconds_count{model="m",version="2"}']), 1)
        self.assertEqual(values['lemma_model_ready{model="m",version="1"}'], "1")
        for line in lines:
            self.assertRegex(line, r'^(# (HELP|TYPE) \S+ .+|[a-z_]+(\{[^}]*\})? [0-9.e+-]+)$')
        self.assertTrue(any('"POST /v2/models/m/infer" 200 good' in line for line in self.serve.log))


def listening_on(port: int) -> list[str]:
    """The addresses as the kernel lists them: 0100007F is 127.0.0.1."""
    found = []
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            address, number = line.split()[1].split(":")
            if line.split()[3] == "0A" and int(number, 16) == port:
                found.append(address)
    assert found
    return found


class Protection(unittest.TestCase):
    def test_token(self):
        model = write_model(WORK / "token", "m.sknd", DOUBLE)
        token = write_model(WORK / "token", "token", "se cret\n")
        with Serve(ARGUMENTS.lemma, model, f"--token-file={token}") as serve:
            good = {"Authorization": "Bearer se cret"}
            for headers, wanted in (({}, 401), ({"Authorization": "Bearer"}, 401),
                                    ({"Authorization": "Bearer se cre"}, 401),
                                    ({"Authorization": "Bearer se cretx"}, 401),
                                    ({"Authorization": "Basic se cret"}, 401), (good, 200)):
                self.assertEqual(serve.request("GET", "/v2", headers=headers)[0], wanted, headers)
                self.assertEqual(serve.request("GET", "/metrics", headers=headers)[0], wanted)
                body = json.dumps(row(1, 2, 3))
                self.assertEqual(serve.request("POST", "/v2/models/m/infer", body, headers)[0], wanted)
            for path in ("/v2/health/live", "/v2/health/ready", "/v2/models/m/ready"):
                self.assertEqual(serve.request("GET", path)[0], 200)
            grpc_token(self, serve)

    def test_loopback_only(self):
        model = write_model(WORK / "loopback", "m.sknd", DOUBLE)
        with Serve(ARGUMENTS.lemma, model) as serve:
            for port in (serve.http_port, serve.grpc_port):
                for address in listening_on(port):
                    self.assertTrue(address.endswith("0100007F"), address)

    def test_connection_limit(self):
        model = write_model(WORK / "limit", "m.sknd", DOUBLE)
        with Serve(ARGUMENTS.lemma, model, "--max-connections=4", "--client-timeout=2", grpc=False) as serve:
            idle = [socket.create_connection(("127.0.0.1", serve.http_port)) for _ in range(20)]
            time.sleep(0.2)
            self.assertLess(open_files(serve.process.pid), 60)
            # The idle ones are closed after a while, and there is room again.
            serve.until(lambda: serve_answers(serve), "no room for a new connection", 20)
            for one in idle:
                one.close()


def serve_answers(serve: Serve) -> bool:
    try:
        return serve.request("GET", "/v2/health/live", timeout=1)[0] == 200
    except OSError:
        return False


class Life(unittest.TestCase):
    def test_kill_and_restart(self):
        model = write_model(WORK / "restart", "m.sknd", DOUBLE)
        port = free_port()
        for _ in range(2):
            with Serve(ARGUMENTS.lemma, f"m={model}", grpc=False, http_port=port) as serve:
                connection = socket.create_connection(("127.0.0.1", port))
                self.assertEqual(serve.json("POST", "/v2/models/m/infer", row(1, 2, 3))[0], 200)
                self.assertEqual(serve.stop(signal.SIGKILL), -signal.SIGKILL)
                connection.close()

    def test_graceful_end(self):
        """Requests that wait when SIGTERM arrives are answered; new connections are refused."""
        model = write_model(WORK / "grace", "m.sknd", SLOW.replace("1500", "130"))
        body = slow_body(130)
        with Serve(ARGUMENTS.lemma, f"m={model}", "--engine=interpret", "--max-batch=1", grpc=False) as serve:
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                asked = [pool.submit(serve.request, "POST", "/v2/models/m/infer", *body) for _ in range(12)]
                serve.until(lambda: gauge(serve, "lemma_waiting_requests") > 0 and arrived(serve) == 12,
                            "not all requests wait")
                serve.process.send_signal(signal.SIGTERM)
                self.assertEqual([one.result()[0] for one in asked], [200] * 12)
            self.assertEqual(serve.process.wait(timeout=30), 0)
            self.assertIn("lemma: stopped", serve.messages[-1])

    def test_quiet(self):
        """With `-q`, only problems are printed."""
        model = write_model(WORK / "quiet", "m.sknd", DOUBLE)
        with Serve(ARGUMENTS.lemma, f"m={model}", "-q", wait=False, grpc=False) as serve:
            serve.until(lambda: serve_answers(serve), "no answer")
            serve.until(lambda: serve.request("GET", "/v2/health/ready")[0] == 200, "not ready")
            self.assertEqual(serve.stop(signal.SIGTERM), 0)
            self.assertEqual(serve.messages, [])
        with Serve(ARGUMENTS.lemma, f"m={WORK}/nowhere", "-q", wait=False, grpc=False) as serve:
            self.assertEqual(serve.process.wait(timeout=30), 2)
            serve.until(lambda: serve.messages, "no message")

    def test_not_ready(self):
        """While a model is loaded, the server lives and refuses requests."""
        model = write_model(WORK / "loading", "m.sknd", SLOW.replace("1500", "300"))
        with Serve(ARGUMENTS.lemma, f"m={model}", "--engine=interpret", wait=False, grpc=False) as serve:
            serve.until(lambda: serve_answers(serve), "no answer")
            self.assertEqual(serve.json("GET", "/v2/health/ready"), (503, {"ready": False}))
            self.assertEqual(serve.json("GET", "/v2/models/m/ready"), (503, {"name": "m", "ready": False}))
            self.assertEqual(serve.request("GET", "/v2/models/m")[0], 503)
            self.assertEqual(serve.request("POST", "/v2/models/m/infer", *slow_body(300))[0], 503)

    def test_end_of_grace(self):
        """After the time of grace, the requests that are left are answered with a failure."""
        model = write_model(WORK / "grace0", "m.sknd", SLOW.replace("1500", "130"))
        body = slow_body(130)
        with Serve(ARGUMENTS.lemma, f"m={model}", "--engine=interpret", "--max-batch=1", "--grace=0",
                   grpc=False) as serve:
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                asked = [pool.submit(serve.request, "POST", "/v2/models/m/infer", *body) for _ in range(12)]
                serve.until(lambda: gauge(serve, "lemma_waiting_requests") > 0 and arrived(serve) == 12,
                            "not all requests wait")
                serve.process.send_signal(signal.SIGTERM)
                statuses = [one.result()[0] for one in asked]
            self.assertTrue(set(statuses) <= {200, 503, 499} and 503 in statuses, statuses)
            self.assertEqual(serve.process.wait(timeout=30), 0)

    def test_queue_limit_and_timeout(self):
        model = write_model(WORK / "queue", "m.sknd", SLOW.replace("1500", "130"))
        body = slow_body(130)
        with Serve(ARGUMENTS.lemma, f"m={model}", "--engine=interpret", "--max-batch=1", "--queue=2",
                   grpc=False) as serve:
            with concurrent.futures.ThreadPoolExecutor(12) as pool:
                asked = [pool.submit(serve.request, "POST", "/v2/models/m/infer", *body) for _ in range(12)]
                statuses = [one.result()[0] for one in asked]
            self.assertEqual(set(statuses), {200, 429}, statuses)
            document, headers = slow_body(130, timeout=1)
            status, _, answer = serve.request("POST", "/v2/models/m/infer", document, headers)
            self.assertEqual(status, 504, answer[:200])

    def test_clients_that_go_away(self):
        """Their requests are dropped, and leave no file open."""
        model = write_model(WORK / "away", "m.sknd", SLOW.replace("1500", "130"))
        text, headers = slow_body(130)
        head = "POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\n" + "".join(
            f"{name}: {value}\r\n" for name, value in headers.items()) + f"Content-Length: {len(text)}\r\n\r\n"
        with Serve(ARGUMENTS.lemma, f"m={model}", "--engine=interpret", "--max-batch=1", grpc=False) as serve:
            before = open_files(serve.process.pid)
            for _ in range(10):
                with socket.create_connection(("127.0.0.1", serve.http_port)) as client:
                    client.sendall(head.encode() + text)
            serve.until(lambda: gauge(serve, "lemma_waiting_requests") + gauge(serve, "lemma_running_requests") == 0,
                        "requests are left")
            serve.until(lambda: open_files(serve.process.pid) <= before + 2, "files are left")
            cancelled = gauge(serve, 'lemma_inferences_total{model="m",version="1",code="cancelled"}')
            self.assertGreaterEqual(cancelled, 8)

    def test_faults_at_the_start(self):
        def fails(*arguments: str, http_port: int = 0, grpc_port: int = 0) -> str:
            ended = subprocess.run([ARGUMENTS.lemma, "serve", f"--http-port={http_port or free_port()}",
                                    f"--grpc-port={grpc_port or free_port()}", *arguments],
                                   capture_output=True, text=True, timeout=60)
            self.assertIn(ended.returncode, (1, 2), ended)
            return ended.stderr

        self.assertIn("cannot read", fails(str(WORK / "missing.onnx")))
        wrong = write_model(WORK / "wrong", "m.sknd", "graph G {")
        self.assertIn("error:", fails(wrong))
        good = write_model(WORK / "good", "m.sknd", DOUBLE)
        self.assertIn("two models", fails(good, good))
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            self.assertIn("cannot listen", fails(good, http_port=port))
            self.assertIn("cannot listen", fails(good, grpc_port=port))
            self.assertIn("cannot listen", fails(good, "--host=256.1.1.1"))


def gauge(serve: Serve, name: str) -> int:
    text = serve.request("GET", "/metrics")[2].decode()
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def arrived(serve: Serve) -> int:
    """Inference requests so far."""
    return (gauge(serve, "lemma_waiting_requests") + gauge(serve, "lemma_running_requests") +
            gauge(serve, "lemma_inferences_total"))


def slow_body(extent: int, timeout: int = 0) -> tuple[bytes, dict]:
    data = b"\0\0\0\0" * extent * extent
    document = {"inputs": [{"name": "x", "shape": [extent, extent], "datatype": "FP32",
                            "parameters": {"binary_data_size": len(data)}}],
                "parameters": {"binary_data_output": True, "timeout": timeout}}
    text = json.dumps(document).encode()
    return text + data, {"Inference-Header-Content-Length": str(len(text))}


# ---- gRPC ----------------------------------------------------------------------------------------

def grpc_token(test: unittest.TestCase, serve: Serve) -> None:
    import grpc
    messages, services = stubs()
    with grpc.insecure_channel(f"127.0.0.1:{serve.grpc_port}") as channel:
        stub = services.GRPCInferenceServiceStub(channel)
        test.assertTrue(stub.ServerLive(messages.ServerLiveRequest()).live)
        with test.assertRaises(grpc.RpcError) as caught:
            stub.ServerMetadata(messages.ServerMetadataRequest())
        test.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        with test.assertRaises(grpc.RpcError) as caught:
            stub.ModelInfer(messages.ModelInferRequest(model_name="m"))
        test.assertEqual(caught.exception.code(), grpc.StatusCode.UNAUTHENTICATED)
        good = (("authorization", "Bearer se cret"),)
        test.assertEqual(stub.ServerMetadata(messages.ServerMetadataRequest(), metadata=good).name, "lemma")


class Grpc(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        import grpc
        cls.messages, services = stubs()
        models = WORK / "grpc"
        write_model(models / "m/1", "main.sknd", DOUBLE)
        write_model(models / "m/2", "main.sknd", TRIPLE)
        types = write_model(models, "types.sknd", TYPES)
        slow = write_model(models, "slow.sknd", SLOW.replace("1500", "130"))
        cls.serve = Serve(ARGUMENTS.lemma, f"m={models / 'm'}", types, slow, "--max-body=1000000",
                          "--engine=interpret", http=False)
        cls.serve.__enter__()
        cls.channel = grpc.insecure_channel(f"127.0.0.1:{cls.serve.grpc_port}")
        cls.stub = services.GRPCInferenceServiceStub(cls.channel)

    @classmethod
    def tearDownClass(cls):
        cls.channel.close()
        cls.serve.__exit__()

    def request(self, rows, raw: bool, **fields):
        request = self.messages.ModelInferRequest(model_name="m", **fields)
        tensor = request.inputs.add(name="x", datatype="FP32", shape=[len(rows), 3])
        flat = [number for one in rows for number in one]
        if raw:
            request.raw_input_contents.append(struct.pack(f"<{len(flat)}f", *flat))
        else:
            tensor.contents.fp32_contents.extend(flat)
        return request

    def test_health_and_metadata(self):
        pb = self.messages
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest()).live)
        self.assertTrue(self.stub.ServerReady(pb.ServerReadyRequest()).ready)
        self.assertTrue(self.stub.ModelReady(pb.ModelReadyRequest(name="m", version="1")).ready)
        self.assertEqual(self.stub.ServerMetadata(pb.ServerMetadataRequest()).name, "lemma")
        model = self.stub.ModelMetadata(pb.ModelMetadataRequest(name="m"))
        self.assertEqual(list(model.versions), ["1", "2"])
        self.assertEqual((model.inputs[0].name, model.inputs[0].datatype, list(model.inputs[0].shape)),
                         ("x", "FP32", [-1, 3]))

    def test_raw_and_typed_contents(self):
        answer = self.stub.ModelInfer(self.request([(1, 2, 3), (4, 5, 6)], True, id="7"))
        self.assertEqual((answer.model_version, answer.id, list(answer.outputs[0].shape)), ("2", "7", [2, 3]))
        self.assertEqual(struct.unpack("<6f", answer.raw_output_contents[0]), (3, 6, 9, 12, 15, 18))
        answer = self.stub.ModelInfer(self.request([(1, 2, 3)], False, model_version="1"))
        self.assertEqual(list(answer.outputs[0].contents.fp32_contents), [2, 4, 6])

    def test_types(self):
        pb = self.messages
        integer = self.stub.ModelMetadata(pb.ModelMetadataRequest(name="types")).inputs[0].datatype
        request = pb.ModelInferRequest(model_name="types")
        tensor = request.inputs.add(name="i", datatype=integer, shape=[2])
        (tensor.contents.int_contents if integer == "INT32" else tensor.contents.int64_contents).extend([5, -7])
        request.inputs.add(name="b", datatype="BOOL", shape=[2]).contents.bool_contents.extend([True, False])
        request.inputs.add(name="r", datatype="FP32", shape=[]).contents.fp32_contents.append(1.5)
        contents = [output.contents for output in self.stub.ModelInfer(request).outputs]
        self.assertEqual(list(contents[0].int_contents) + list(contents[0].int64_contents), [10, -14])
        self.assertEqual(list(contents[1].bool_contents), [False, True])
        self.assertEqual(list(contents[2].fp32_contents), [-1.5])

    def code_of(self, request, **options):
        import grpc
        with self.assertRaises(grpc.RpcError) as caught:
            self.stub.ModelInfer(request, **options)
        return caught.exception.code().name

    def test_wrong_requests(self):
        pb = self.messages
        self.assertEqual(self.code_of(pb.ModelInferRequest(model_name="q")), "NOT_FOUND")
        self.assertEqual(self.code_of(pb.ModelInferRequest(model_name="m")), "INVALID_ARGUMENT")
        wrong = self.request([(1, 2, 3)], True)
        wrong.inputs[0].datatype = "FLOAT"
        self.assertEqual(self.code_of(wrong), "INVALID_ARGUMENT")
        wrong = self.request([(1, 2, 3)], True)
        wrong.raw_input_contents.append(b"")
        self.assertEqual(self.code_of(wrong), "INVALID_ARGUMENT")
        wrong = self.request([(1, 2, 3)], True)
        wrong.inputs[0].shape[0] = -1
        self.assertEqual(self.code_of(wrong), "INVALID_ARGUMENT")
        wrong = self.request([(1, 2, 3)], True)
        wrong.raw_input_contents[0] = b"1"
        self.assertEqual(self.code_of(wrong), "INVALID_ARGUMENT")
        wrong = self.request([(1, 2, 3)], False)
        wrong.inputs[0].ClearField("contents")
        self.assertEqual(self.code_of(wrong), "INVALID_ARGUMENT")
        large = self.request([(1, 2, 3)] * 100000, True)
        self.assertEqual(self.code_of(large), "RESOURCE_EXHAUSTED")
        with socket.create_connection(("127.0.0.1", self.serve.grpc_port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\n\r\n" + b"\xff" * 10000)
        self.assertTrue(self.stub.ServerLive(pb.ServerLiveRequest()).live)

    def slow(self):
        request = self.messages.ModelInferRequest(model_name="slow")
        request.inputs.add(name="x", datatype="FP32", shape=[130, 130])
        request.raw_input_contents.append(b"\0\0\0\0" * 16900)
        return request

    def test_deadline_and_cancelled_calls(self):
        begin = time.monotonic()
        self.assertEqual(self.code_of(self.slow(), timeout=0.01), "DEADLINE_EXCEEDED")
        self.assertLess(time.monotonic() - begin, 5)
        calls = [self.stub.ModelInfer.future(self.slow()) for _ in range(5)]
        for call in calls:
            call.cancel()
        self.assertTrue(all(call.cancelled() for call in calls))
        answer = self.stub.ModelInfer(self.request([(1, 2, 3)], True))
        self.assertEqual(struct.unpack("<3f", answer.raw_output_contents[0]), (3, 6, 9))

    def test_many_calls_at_a_time(self):
        calls = [(i, self.stub.ModelInfer.future(self.request([(i, 2 * i, 0)], True))) for i in range(200)]
        for i, call in calls:
            self.assertEqual(struct.unpack("<3f", call.result().raw_output_contents[0]), (3 * i, 6 * i, 0))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("tests", nargs="*", help="names of tests, such as Http.test_types")
    parser.parse_args(namespace=ARGUMENTS)
    try:
        program = unittest.main(argv=[sys.argv[0], *ARGUMENTS.tests], exit=False, verbosity=1)
    finally:
        shutil.rmtree(WORK)
    result = program.result
    wrong = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
