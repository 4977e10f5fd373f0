# SPDX-License-Identifier: Apache-2.0
"""A `lemma serve` process for tests, and small models to serve."""
import contextlib
import http.client
import importlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time

SOURCE = pathlib.Path(__file__).resolve().parent.parent.parent

# Two versions of a model for any number of rows.
DOUBLE = """import math;
graph Double {
    @input { x: real[n|4096, 3]; }
    @output { y: real[n, 3]; }
    @compose { y = math.add(x, x); }
}
"""
TRIPLE = DOUBLE.replace("math.add(x, x)", "math.mul(x, 3.0)").replace("Double", "Triple")
# All kinds of inputs and outputs.
TYPES = """import math;
graph Types {
    @input { i: int[2]; b: bool[2]; r: real[]; }
    @output { k: int[2]; c: bool[2]; s: real[]; }
    @compose { k = math.add(i, i); c = math.not(b); s = math.neg(r); }
}
"""
# Counts its runs; each request begins anew.
COUNTER = """import math;
graph Counter {
    @input { x: real[1]; }
    @output { y: real[1]; }
    @variable { count: real[1]; }
    @compose { y = math.add(x, count); next = math.add(count, 1.0); }
    @update { count = next; }
}
"""
# Takes seconds in the interpreter.
SLOW = """import linalg;
graph Slow {
    @input { x: real[1500, 1500]; }
    @output { y: real[1500, 1500]; }
    @compose { a = linalg.matmul(x, x); y = linalg.matmul(a, a); }
}
"""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Serve:
    """Starts the server and stops it at the end of a `with` block."""

    def __init__(self, lemma: str, *arguments: str, http: bool = True, grpc: bool = True, wait: bool = True,
                 http_port: int = 0):
        self.http_port = (http_port or free_port()) if http else 0
        self.grpc_port = free_port() if grpc else 0
        self.command = [lemma, "serve", f"--http-port={self.http_port}", f"--grpc-port={self.grpc_port}",
                        *arguments]
        self.wait = wait
        self.log: list[str] = []
        self.messages: list[str] = []

    def __enter__(self) -> "Serve":
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        self.readers = [threading.Thread(target=self._read, args=pair, daemon=True)
                        for pair in ((self.process.stdout, self.log), (self.process.stderr, self.messages))]
        for reader in self.readers:
            reader.start()
        if self.wait:
            self.until(lambda: any("lemma: ready" in line for line in self.messages), "the server is not ready")
        return self

    def _read(self, stream, lines: list[str]) -> None:
        for line in stream:
            lines.append(line.rstrip("\n"))

    def until(self, condition, what: str, seconds: float = 60) -> None:
        end = time.monotonic() + seconds
        while not condition():
            assert self.process.poll() is None, f"the server ended: {self.messages}"
            assert time.monotonic() < end, f"{what}: {self.messages}"
            time.sleep(0.01)

    def stop(self, how: int = signal.SIGTERM) -> int:
        self.process.send_signal(how)
        return self.process.wait(timeout=60)

    def __exit__(self, *_) -> None:
        if self.process.poll() is None:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.stop()
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        for reader in self.readers:
            reader.join()
        self.process.stdout.close()
        self.process.stderr.close()

    # ---- HTTP ----

    def request(self, method: str, path: str, body=None, headers=None, timeout: float = 30):
        """Status, headers and body."""
        connection = http.client.HTTPConnection("127.0.0.1", self.http_port, timeout=timeout)
        try:
            connection.request(method, path, body=body, headers=headers or {})
            response = connection.getresponse()
            return response.status, dict(response.getheaders()), response.read()
        finally:
            connection.close()

    def json(self, method: str, path: str, document=None, headers=None):
        """Status and JSON document."""
        body = None if document is None else json.dumps(document)
        status, _, answer = self.request(method, path, body, headers)
        return status, json.loads(answer)

    def raw(self, data: bytes, timeout: float = 10) -> bytes:
        """What the server sends for these bytes until it closes the connection or falls silent."""
        with socket.create_connection(("127.0.0.1", self.http_port), timeout=timeout) as connection:
            connection.sendall(data)
            answer = b""
            with contextlib.suppress(TimeoutError, ConnectionError):
                while part := connection.recv(65536):
                    answer += part
            return answer


def write_model(folder: pathlib.Path, name: str, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(text)
    return str(path)


def write_counter(folder: pathlib.Path) -> str:
    """The model of COUNTER with the data of its variable, one zero, in NNEF's format."""
    write_model(folder, "main.sknd", COUNTER)
    header = b"N\xef\x01\x00" + struct.pack("<13I", 4, 1, 1, 0, 0, 0, 0, 0, 0, 0, 32, 0, 0)
    (folder / "count.dat").write_bytes(header.ljust(128, b"\0") + struct.pack("<f", 0))
    return str(folder)


def stubs():
    """The modules that Debian's grpc tools generate from the protocol's file."""
    if "inference_pb2" not in sys.modules:
        from grpc_tools import protoc
        proto = SOURCE / "src/serve/net/inference.proto"
        with tempfile.TemporaryDirectory(prefix="lemma-stubs-") as folder:
            status = protoc.main(["protoc", f"-I{proto.parent}", f"--python_out={folder}",
                                  f"--grpc_python_out={folder}", str(proto)])
            assert status == 0
            sys.path.insert(0, folder)
            importlib.import_module("inference_pb2_grpc")
            sys.path.remove(folder)
    return sys.modules["inference_pb2"], sys.modules["inference_pb2_grpc"]


def rss_megabytes(pid: int) -> float:
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    return 0.0


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))
