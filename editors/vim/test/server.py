#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A language server that answers `initialize` and `shutdown`, and writes the names of all messages
and the command line to the file $LOG."""
import json
import os
import sys


def answer(number: int, result: object) -> None:
    body = json.dumps({"jsonrpc": "2.0", "id": number, "result": result}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    sys.stdout.buffer.flush()


def main() -> None:
    with open(os.environ["LOG"], "a", encoding="utf-8", buffering=1) as log:
        print("arguments", *sys.argv[1:], file=log)
        while True:
            length = 0
            while (line := sys.stdin.buffer.readline().strip()):
                name, _, value = line.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
            if not length:
                return
            message = json.loads(sys.stdin.buffer.read(length))
            print(message.get("method", ""), file=log)
            if message.get("method") == "initialize":
                print("root", message["params"]["rootPath"], file=log)
                answer(message["id"], {"capabilities": {"textDocumentSync": 1}})
            elif message.get("method") == "shutdown":
                answer(message["id"], None)
            elif message.get("method") == "exit":
                return


if __name__ == "__main__":
    main()
