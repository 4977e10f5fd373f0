# SPDX-License-Identifier: Apache-2.0
"""A small client of the language server, for tests that need speed or broken messages. The other
tests use clients that others wrote."""
import json
import queue
import subprocess
import threading
import time


class Client:
    def __init__(self, lemma, *options):
        self.process = subprocess.Popen([lemma, "lsp", *options], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.inbox = queue.Queue()
        self.diagnostics = {}  # uri -> (version, list)
        self.notices = []
        self.next_id = 0
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        out = self.process.stdout
        while True:
            length = None
            while True:
                line = out.readline()
                if not line:
                    self.inbox.put(None)
                    return
                line = line.strip()
                if not line:
                    break
                name, value = line.split(b":", 1)
                if name.lower() == b"content-length":
                    length = int(value)
            self.inbox.put(json.loads(out.read(length)))

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.send_bytes(b"Content-Length: %d\r\n\r\n" % len(body) + body)

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self, timeout=30):
        """The next message; remembers diagnostics."""
        message = self.inbox.get(timeout=timeout)
        if message is None:
            raise EOFError("the server ended")
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.diagnostics[params["uri"]] = (params.get("version"), params["diagnostics"])
        elif "method" in message:
            self.notices.append(message)
            if "id" in message:
                self.send({"id": message["id"], "result": None})
        return message

    def request_whole(self, method, params, timeout=30):
        self.next_id += 1
        self.send({"id": self.next_id, "method": method, "params": params})
        while True:
            message = self.receive(timeout)
            if message.get("id") == self.next_id and "method" not in message:
                return message

    def request(self, method, params, timeout=30):
        message = self.request_whole(method, params, timeout)
        if "error" in message:
            raise RuntimeError(f"{method}: {message['error']}")
        return message["result"]

    def initialize(self, roots=(), capabilities=None):
        folders = [{"uri": root, "name": root} for root in roots]
        result = self.request("initialize", {"processId": None, "rootUri": None,
                                             "workspaceFolders": folders or None,
                                             "capabilities": capabilities or {}})
        self.notify("initialized", {})
        return result

    def open(self, uri, text, version=1, language="skriptnd"):
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": uri, "languageId": language, "version": version, "text": text}})

    def change(self, uri, version, changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": uri, "version": version}, "contentChanges": changes})

    def wait_diagnostics(self, uri, version, timeout=30):
        """The diagnostics of this version of a text."""
        end = time.monotonic() + timeout
        while True:
            found = self.diagnostics.get(uri)
            if found and found[0] == version:
                return found[1]
            self.receive(max(0.01, end - time.monotonic()))

    def close(self):
        """Ends the server; returns its exit status."""
        self.request("shutdown", None)
        self.notify("exit", None)
        self.process.stdin.close()
        return self.process.wait(30)
