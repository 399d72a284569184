"""A local stand-in for LangSmith that records what it is sent."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

TENANT, PROJECT_ID = "6f0f7c6e-0000-4000-8000-000000000001", "6f0f7c6e-0000-4000-8000-000000000002"
PROJECT = {"id": PROJECT_ID, "tenant_id": TENANT, "name": "mine", "reference_dataset_id": None}


INFO = {
    "version": "0",
    "batch_ingest_config": {
        "use_multipart_endpoint": False,
        "scale_up_qsize_trigger": 1000,
        "scale_up_nthreads_limit": 1,
        "scale_down_nempty_trigger": 4,
        "size_limit": 100,
        "size_limit_bytes": 20971520,
    },
}
CREATED = "2026-11-22T00:00:00+00:00"


class Collector:
    """Takes batches of traces as plain JSON and remembers every request."""

    def __init__(self) -> None:
        self.paths: list[str] = []
        self.bodies: list[bytes] = []
        self.feedback: list[dict[str, Any]] = []
        self.datasets: list[dict[str, Any]] = []
        self.examples: list[dict[str, Any]] = []
        self.server = _Server(self)
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def found(self, path: str, filters: dict[str, str]) -> Any:
        """The answer to a question."""
        if path == "/datasets":
            return [d for d in self.datasets if d["name"] == filters.get("name", d["name"])]
        if path == "/examples":
            begin = int(filters.get("offset", 0))
            return self.examples[begin : begin + int(filters.get("limit", 100))]
        return [PROJECT] if path.startswith("/sessions") else INFO

    def kept(self, path: str, body: bytes) -> Any:
        """The answer to what is sent here, which is remembered."""
        if path == "/datasets":
            dataset = {**json.loads(body), "id": PROJECT_ID, "created_at": CREATED}
            self.datasets.append(dataset)
            return dataset
        if path.startswith("/examples"):
            rows = [{**row, "created_at": CREATED} for row in json.loads(body)]
            self.examples += rows
            return rows
        if path.startswith("/feedback"):
            self.feedback.append(json.loads(body))
        else:
            self.bodies.append(body)
        return {}

    def runs(self) -> list[dict[str, Any]]:
        """Every traced step; what a later update says is merged over what the first post said."""
        merged: dict[str, dict[str, Any]] = {}
        for body in self.bodies:
            batch = json.loads(body)
            for part in (*batch.get("post", ()), *batch.get("patch", ())):
                merged_run = merged.setdefault(part["id"], {})
                merged_run.update({name: value for name, value in part.items() if value is not None})
        return list(merged.values())


class _Server(ThreadingHTTPServer):
    """Listens on a free port of this machine for a collector."""

    def __init__(self, collector: Collector) -> None:
        self.collector = collector
        super().__init__(("127.0.0.1", 0), _Handler)


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def log_message(self, format: str, *args: Any) -> None:
        pass

    def do_GET(self) -> None:
        self.server.collector.paths.append(self.path)
        url = urlsplit(self.path)
        filters = {name: values[0] for name, values in parse_qs(url.query).items()}
        self._answer(self.server.collector.found(url.path, filters))

    def do_POST(self) -> None:
        self.server.collector.paths.append(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self._answer(self.server.collector.kept(self.path, body))

    do_PATCH = do_POST

    def _answer(self, document: Any) -> None:
        body = json.dumps(document).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


@contextmanager
def collecting() -> Iterator[Collector]:
    collector = Collector()
    thread = threading.Thread(target=collector.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield collector
    finally:
        collector.server.shutdown()
        collector.server.server_close()
        thread.join()


def metadata(run: dict[str, Any]) -> dict[str, Any]:
    return dict((run.get("extra") or {}).get("metadata") or {})
