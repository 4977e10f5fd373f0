#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Loads `lemma serve` with many connections, compares every answer with what `lemma run` computes, and
prints throughput and latency. Arguments after `--` go to the server.

    load.py --lemma build/release/lemma --requests 100000 model.onnx -- --max-batch=8
"""
import argparse
import json
import pathlib
import socket
import subprocess
import sys
import tempfile
import threading
import time

import numpy

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent.parent / "tests/serve"))
from server import Serve, rss_megabytes, stubs  # noqa: E402

TYPES = {"FP32": numpy.float32, "FP64": numpy.float64, "INT32": numpy.int32, "INT64": numpy.int64,
         "UINT8": numpy.uint8, "INT8": numpy.int8}


class Case:
    """Inputs, the request with them, and the answer that it must get."""

    def __init__(self, arguments, metadata: dict, number: int, folder: pathlib.Path):
        random = numpy.random.default_rng(number)
        inputs = {}
        for tensor in metadata["inputs"]:
            shape = [1 if extent < 0 else extent for extent in tensor["shape"]]
            inputs[tensor["name"]] = random.random(shape).astype(TYPES[tensor["datatype"]])
        self.outputs = self.expected(arguments, metadata, inputs, folder / str(number))
        self.request = self.encode_grpc(metadata, inputs) if arguments.grpc else self.encode(metadata, inputs)

    def expected(self, arguments, metadata, inputs, folder) -> list[bytes]:
        folder.mkdir()
        command = [arguments.lemma, "run", arguments.model, "-o", str(folder / "out"), *arguments.run]
        for name, array in inputs.items():
            numpy.save(folder / "in.npy", array)
            command += ["-i", f"{name}={folder / 'in.npy'}"]
        subprocess.run(command, check=True, capture_output=True)
        return [numpy.load(folder / "out" / f"{tensor['name']}.npy").tobytes() for tensor in metadata["outputs"]]

    def encode(self, metadata, inputs) -> bytes:
        described, data = [], b""
        for tensor in metadata["inputs"]:
            array = inputs[tensor["name"]]
            described.append({"name": tensor["name"], "datatype": tensor["datatype"], "shape": list(array.shape),
                              "parameters": {"binary_data_size": array.nbytes}})
            data += array.tobytes()
        text = json.dumps({"inputs": described, "parameters": {"binary_data_output": True}}).encode()
        head = (f"POST /v2/models/m/infer HTTP/1.1\r\nHost: x\r\nInference-Header-Content-Length: {len(text)}\r\n"
                f"Content-Length: {len(text) + len(data)}\r\n\r\n").encode()
        return head + text + data

    def encode_grpc(self, metadata, inputs):
        messages, _ = stubs()
        request = messages.ModelInferRequest(model_name="m")
        for tensor in metadata["inputs"]:
            array = inputs[tensor["name"]]
            request.inputs.add(name=tensor["name"], datatype=tensor["datatype"], shape=array.shape)
            request.raw_input_contents.append(array.tobytes())
        return request

    def is_answered_by(self, status: int, body: bytes) -> bool:
        return status == 200 and body.endswith(b"".join(self.outputs))


def read_answer(connection: socket.socket, buffer: bytes) -> tuple[int, bytes, bytes]:
    """Status, body, and the bytes after it."""
    while (end := buffer.find(b"\r\n\r\n")) < 0:
        part = connection.recv(1 << 20)
        if not part:
            raise ConnectionError("the server closed the connection")
        buffer += part
    head = buffer[:end].decode().lower()
    size = int(head.split("\r\ncontent-length: ")[1].split("\r\n")[0])
    body = buffer[end + 4:]
    while len(body) < size:
        part = connection.recv(1 << 20)
        if not part:
            raise ConnectionError("the server closed the connection")
        body += part
    return int(head.split(" ")[1]), body[:size], body[size:]


class HttpClient:
    """One connection, which is opened again after it was lost."""

    def __init__(self, port: int):
        self.port, self.connection, self.buffer = port, None, b""

    def ask(self, case: Case) -> bool:
        try:
            if self.connection is None:
                self.connection, self.buffer = socket.create_connection(("127.0.0.1", self.port)), b""
                self.connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connection.sendall(case.request)
            status, body, self.buffer = read_answer(self.connection, self.buffer)
            return case.is_answered_by(status, body)
        except OSError:
            self.connection = None
            raise


class GrpcClient:
    """One connection, by the stubs that Debian's tools generate."""

    def __init__(self, port: int):
        import grpc
        _, services = stubs()
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", [("grpc.use_local_subchannel_pool", 1)])
        self.stub = services.GRPCInferenceServiceStub(channel)

    def ask(self, case: Case) -> bool:
        import grpc
        try:
            return list(self.stub.ModelInfer(case.request).raw_output_contents) == case.outputs
        except grpc.RpcError as error:
            raise OSError(error) from error


class Load:
    def __init__(self, client, port: int, cases: list[Case], requests: int):
        self.client, self.port, self.cases, self.requests = client, port, cases, requests
        self.lock = threading.Lock()
        self.begun = 0
        self.wrong = self.lost = 0
        self.error: Exception | None = None
        self.seconds: list[float] = []

    def take(self) -> int | None:
        with self.lock:
            if self.begun == self.requests:
                return None
            self.begun += 1
            return self.begun - 1

    def work(self) -> None:
        seconds, wrong, lost = [], 0, 0
        client = self.client(self.port)
        while (number := self.take()) is not None:
            begin = time.perf_counter()
            try:
                wrong += not client.ask(self.cases[number % len(self.cases)])
            except Exception as error:  # whatever happens, the answer is lost
                lost += 1
                self.error = error
            seconds.append(time.perf_counter() - begin)
        with self.lock:
            self.seconds += seconds
            self.wrong += wrong
            self.lost += lost

    def run(self, connections: int) -> float:
        threads = [threading.Thread(target=self.work) for _ in range(connections)]
        begin = time.perf_counter()
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return time.perf_counter() - begin


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--lemma", required=True, help="the program")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--cases", type=int, default=8, help="different inputs")
    parser.add_argument("--grpc", action="store_true", help="use gRPC instead of HTTP")
    parser.add_argument("--run", action="append", default=[], help="an option of `lemma run`, for the comparison")
    parser.add_argument("model")
    parser.add_argument("server", nargs="*", help="options of the server")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="lemma-load-") as work, \
            Serve(arguments.lemma, f"m={arguments.model}", "--access-log=off", *arguments.server) as serve:
        client = GrpcClient if arguments.grpc else HttpClient
        port = serve.grpc_port if arguments.grpc else serve.http_port
        _, metadata = serve.json("GET", "/v2/models/m")
        cases = [Case(arguments, metadata, i, pathlib.Path(work)) for i in range(arguments.cases)]
        warm = Load(client, port, cases, 4 * arguments.connections)
        warm.run(arguments.connections)
        load = Load(client, port, cases, arguments.requests)
        seconds = load.run(arguments.connections)
        times = sorted(load.seconds)
        at = [1e3 * times[min(len(times) - 1, int(part * len(times)))] for part in (0.5, 0.9, 0.99)] if times else [0] * 3
        print(f"{arguments.requests} requests over {arguments.connections} connections in {seconds:.1f} s: "
              f"{arguments.requests / seconds:.0f} per second; median {at[0]:.1f} ms, p90 {at[1]:.1f} ms, "
              f"p99 {at[2]:.1f} ms; {load.wrong} wrong, {load.lost} lost; "
              f"{rss_megabytes(serve.process.pid):.0f} MB")
        if load.error or warm.error:
            print(f"the last error: {load.error or warm.error!r}")
        complete = len(load.seconds) == arguments.requests
        return 0 if complete and not (load.wrong or load.lost or warm.wrong or warm.lost) else 1


if __name__ == "__main__":
    sys.exit(main())
