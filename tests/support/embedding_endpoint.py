"""An OpenAI-compatible embeddings endpoint on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any


class EmbeddingEndpoint(HTTPServer):
    """Answers each text with the vector (3, 4) and counts a token a character; a text `bad` gets no vectors at all.

    `mixed` turns the rows round, `plain` leaves out their places, `key` is answered with the caller's key.
    """

    def __init__(self, counts: bool = True, models: tuple[str, ...] = ()) -> None:
        """Serves from the `with` on. `counts`: answers name the tokens. `models`: those that it lists."""
        super().__init__(("127.0.0.1", 0), _Answers)
        self.counts, self.models, self.listed = counts, models, 0
        self.asked: list[list[str]] = []
        self.address = f"http://127.0.0.1:{self.server_port}/v1"
        self._thread = threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> EmbeddingEndpoint:
        """Start to serve."""
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        """Stop and close."""
        self.shutdown()
        self._thread.join()
        self.server_close()


class _Answers(BaseHTTPRequestHandler):
    server: EmbeddingEndpoint

    def do_POST(self) -> None:
        request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.server.asked.append(request["input"])
        rows = [{"object": "embedding", "index": i, "embedding": [3.0, 4.0]} for i, _ in enumerate(request["input"])]
        answer: dict[str, Any] = {"data": rows, "model": request["model"], "object": "list"}
        rows[0]["embedding"] = [4.0, 3.0] if "mixed" in request["input"] else [3.0, 4.0]
        if "mixed" in request["input"]:
            rows.reverse()
        if "plain" in request["input"]:
            answer["data"] = [{"object": "embedding", "embedding": row["embedding"]} for row in rows]
        if "bad" in request["input"]:
            answer["data"] = []
        tokens = sum(map(len, request["input"]))
        if self.server.counts:
            answer["usage"] = {"prompt_tokens": tokens, "total_tokens": tokens}
        if "key" in request["input"]:
            answer = {"error": {"message": f"no such key: {self.headers['Authorization']}"}}
        is_broken = request["model"].startswith("broken")
        self._answer(401 if "key" in request["input"] else 404 if is_broken else 200, answer)

    def do_GET(self) -> None:
        self.server.listed += 1
        rows = [{"id": name, "object": "model", "created": 0, "owned_by": "me"} for name in self.server.models]
        self._answer(200, {"object": "list", "data": rows})

    def _answer(self, status: int, answer: dict[str, Any]) -> None:
        body = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing is logged."""
