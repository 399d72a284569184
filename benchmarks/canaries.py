"""Twelve secrets planted where people keep them, and looked for in everything that runs and commands leave behind.

    python -m benchmarks.canaries [--keep DIR]

Keys, tokens and addresses with passwords stand in `.env` and in the environment. The model's endpoint knows all of them
and says them in answers, kernels, tool calls and error texts: as they are, in base64 at its three alignments, URL
coded, backwards, in hexadecimal, with spaces between all characters, on several lines, in halves. Runs of the command
line with the lab, which succeed, go on and fail, and the commands that look at them, are searched: each file below
home, working folder and temporary folder (tables cell by cell, packed pages unpacked), what is printed, what is sent to
the model, to LangSmith and to a collector of spans, and environment and command line of every process below. Not
searched are the header that a service is signed in with, the planted `.env`, and the environment of the command itself.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import string
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from benchmarks.canary_forms import Canary, found_in, layers
from benchmarks.figure import Figure, report
from benchmarks.processes import descendants
from benchmarks.telling_endpoint import TellingEndpoint
from tests.support.collector import Collector, collecting
from tests.support.compiler_cache import share_toolchain, toolchain
from tests.support.short_task import short_task

MODEL, PASSWORD, EMBEDDING = "OPENAI_API_KEY", "OPENAI_BASE_URL", "KERNEL_SCIENTIST_EMBEDDING_BASE_URL"
SMITH, SMITH_URL = "LANGSMITH_API_KEY", "LANGSMITH_ENDPOINT"
HEADERS, SPANS_URL = "OTEL_EXPORTER_OTLP_HEADERS", "OTEL_EXPORTER_OTLP_ENDPOINT"
WORKER, SPOOL, DATABASE = "KERNEL_SCIENTIST_WORKER_TOKEN", "KERNEL_SCIENTIST_SPOOL_KEY", "KERNEL_SCIENTIST_DATABASE"
PROXY, OTHER = "HTTPS_PROXY", "HF_TOKEN"
NAMES = (
    MODEL, PASSWORD, EMBEDDING, SMITH, SMITH_URL, HEADERS, SPANS_URL, WORKER, SPOOL, DATABASE, PROXY, OTHER,
)  # fmt: skip
ROOT = Path(__file__).parents[1]
LOOK_S = 0.02  # between two looks at the processes


def drawn(seed: int) -> list[Canary]:
    """Draw the secrets: letters and digits with what an address writes in another way."""
    draw = random.Random(seed)
    letters = string.ascii_letters + string.digits
    return [
        Canary(name, "".join(draw.choices(letters, k=20)) + draw.choice("+/=@") + "".join(draw.choices(letters, k=19)))
        for name in NAMES
    ]


class SpanCatcher:
    """A collector of spans that keeps every body."""

    def __init__(self) -> None:
        self.bodies: list[bytes] = []

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, format: str, *args: Any) -> None:
                return

            def do_POST(handler) -> None:
                self.bodies.append(handler.rfile.read(int(handler.headers.get("Content-Length", 0))))
                handler.send_response(200)
                handler.send_header("Content-Length", "0")
                handler.end_headers()

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.server.server_port}"


@contextmanager
def spans() -> Iterator[SpanCatcher]:
    """Serve a collector."""
    made = SpanCatcher()
    thread = threading.Thread(target=made.server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield made
    finally:
        made.server.shutdown()
        made.server.server_close()
        thread.join()


class Site:
    """A home, a working folder and the services around, with the secrets planted."""

    def __init__(self, root: Path, canaries: Sequence[Canary], model: str, smith: str, otlp: str) -> None:
        self.root, self.canaries, self.found = root, canaries, list[str]()
        self.looks, self.commands = 0, Counter[int | None]()
        text = {canary.name: canary.text for canary in canaries}
        self.work, home = root / "work", root / "home"
        for folder in (self.work, home, root / "tmp"):
            folder.mkdir()
        share_toolchain(home / "cache" / "kernel-scientist")
        self.task = short_task("row_softmax", self.work / "own_softmax", rows=64, cols=256)
        stored = {
            MODEL: text[MODEL],
            SMITH: text[SMITH],
            HEADERS: f"authorization=Bearer {text[HEADERS]},x-project=1",
            SPOOL: text[SPOOL],
        }
        (self.work / ".env").write_text("".join(f"{name}='{value}'\n" for name, value in stored.items()))
        self.environ = {
            **{name: value for name, value in os.environ.items() if name in ("PATH", "LANG")},
            "HOME": str(home),
            "XDG_CACHE_HOME": str(home / "cache"),
            "TMPDIR": str(root / "tmp"),
            "NO_PROXY": "127.0.0.1",
            "KERNEL_SCIENTIST_TOOLS": "calls",
            "KERNEL_SCIENTIST_MODEL_RETRIES": "0",
            "KERNEL_SCIENTIST_MODEL_PATIENCE_S": "1",
            "KERNEL_SCIENTIST_EMBEDDING_MODEL": "vectors",
            "KERNEL_SCIENTIST_TELEMETRY": "true",
            **{f"KERNEL_SCIENTIST_MODEL_{role.upper()}": role for role in
               ("selector", "retriever", "planner", "coder", "critic")},
            PASSWORD: signed(model, "person", text[PASSWORD]),
            EMBEDDING: signed(model, text[EMBEDDING]),
            SMITH_URL: signed(smith, "person", text[SMITH_URL]),
            SPANS_URL: signed(otlp, "person", text[SPANS_URL]),
            WORKER: text[WORKER],
            PROXY: f"http://person:{quote(text[PROXY], safe='')}@127.0.0.1:9/",
            "MIRROR_URL": signed(model, "person", text[PASSWORD]),  # where a command is given another base URL
            "DATABASE_URL": f"postgresql://person:{quote(text[DATABASE], safe='')}@127.0.0.1:9/kernels",
            OTHER: text[OTHER],
        }  # fmt: skip

    def command(self, *words: str, **more: str) -> None:
        """Run a command of the program, look at its processes, and search what it prints."""
        process = subprocess.Popen(
            [sys.executable, "-m", "app", *words],
            cwd=self.work,
            env={**self.environ, "PYTHONPATH": str(ROOT), **more},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        watch = threading.Thread(target=self._watch, args=(process,))
        watch.start()
        printed, _ = process.communicate()
        watch.join()
        self.commands[process.returncode] += 1
        print(f"{process.returncode}  {' '.join(words)}: {last_line(printed)}", file=sys.stderr, flush=True)
        self.search(f"printed by {' '.join(words[:2])}", printed)

    def _watch(self, process: subprocess.Popen[bytes]) -> None:
        """Search environment and command line of whatever runs below, until the command has ended."""
        seen = set[tuple[int, bytes]]()
        while process.poll() is None:
            for pid in descendants(process.pid):
                for name in ("cmdline", "environ"):
                    with suppress(OSError):
                        data = Path(f"/proc/{pid}/{name}").read_bytes()
                        if _words(pid) in (_words(process.pid), b""):  # not yet another program, or no more
                            continue
                        self.looks += 1
                        if (pid, data) not in seen:
                            seen.add((pid, data))
                            self.search(f"{name} of {_words(pid)[:200]!r}", data)
            time.sleep(LOOK_S)

    def search(self, place: str, data: bytes) -> None:
        """Note each secret in the data."""
        self.found += [f"{place}: {told}" for told in found_in(data, self.canaries)]

    def files(self) -> int:
        """Search every file that was left; their number."""
        count = 0
        for path in sorted(self.root.rglob("*")):
            if path.is_symlink() or not path.is_file() or path == self.work / ".env":
                continue
            count += 1
            for layer in layers(path):
                self.search(str(path.relative_to(self.root)), layer)
        return count


def signed(url: str, user: str, password: str = "") -> str:
    """Write an address with a user and a password in it."""
    parts = urlsplit(url)
    own = quote(user, safe="") + (f":{quote(password, safe='')}" if password else "")
    return f"{parts.scheme}://{own}@{parts.netloc}{parts.path}"


def last_line(printed: bytes) -> str:
    """Give the last line of an output, cut."""
    lines = printed.decode(errors="replace").strip().splitlines()
    return lines[-1][:150] if lines else ""


def _words(pid: int) -> bytes:
    """Read a command line; nothing where the process has gone."""
    with suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""


def acted(site: Site, endpoint: TellingEndpoint) -> None:
    """Let runs succeed, go on and fail, and look at them."""
    run = ["run", str(site.task), "--author", "llm", "--generations", "1", "--picks", "1", "--tries", "2",
           "--tunings", "2", "--explorations", "2", "--trace"]  # fmt: skip
    plain: Mapping[str, str] = {PASSWORD: endpoint.url}  # signed in with the key instead
    site.command(*run)
    site.command("resume", "last", "--generations", "2", "--trace", **plain)
    for words in (["report", "last"], ["runs"], ["runs", "--json"], ["memory", "list"], ["doctor"],
                  ["export", "last", "--dataset", "--out", "rows.jsonl"], ["export", "last", "--dataset"],
                  ["knowledge", "search", "lds bank conflicts"]):  # fmt: skip
        site.command(*words)
    for fault in ("401", "400", "500", "429", "page"):
        endpoint.fault = fault
        site.command(*run, **plain)
        site.command(*run, "--json")
    site.command("doctor", "--json")
    text = next(c.text for c in site.canaries if c.name == DATABASE)
    address = f"postgresql://person:{quote(text, safe='')}@127.0.0.1:9/kernels"
    site.command("runs", **{DATABASE: address})
    site.command("doctor", **{DATABASE: address})
    site.command("ledger", "copy", "last", "--to", f"postgresql://person@127.0.0.1:9/kernels?sslkey={site.root}")
    site.command(*run, **{PASSWORD: next(c.text for c in site.canaries if c.name == MODEL)})
    site.command(*run, **{PASSWORD: signed("http://127.0.0.1:9/v1", "person", text)})


def sent(site: Site, endpoint: TellingEndpoint, smith: Collector, collector: SpanCatcher) -> int:
    """Search what left the machine, without the headers of whom it is for; the number of messages."""
    for request in (*endpoint.requests, *endpoint.others):
        site.search(f"sent to the model's {request.path}", repr(request.body).encode())
        more = {name: value for name, value in request.headers.items() if name != "authorization"}
        site.search("a header of a request to the model", repr(more).encode())
    for body in (*smith.bodies, *(repr(kept).encode() for kept in (smith.feedback, smith.examples, smith.paths))):
        site.search("sent to LangSmith", body)
    for body in collector.bodies:
        site.search("a span", body)
    return len(endpoint.requests) + len(endpoint.others) + len(smith.bodies) + len(collector.bodies)


def main(words: Sequence[str] | None = None) -> int:
    """Plant, act, search and report."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.canaries")
    parser.add_argument("--keep", type=Path, help="a folder to keep what was left")
    parser.add_argument("--seed", type=int, default=1)
    asked = parser.parse_args(words)
    toolchain()
    canaries = drawn(asked.seed)
    with ExitStack() as opened:
        root = Path(opened.enter_context(tempfile.TemporaryDirectory()))
        endpoint = opened.enter_context(TellingEndpoint(canaries))
        smith, collector = opened.enter_context(collecting()), opened.enter_context(spans())
        site = Site(root, canaries, endpoint.url, smith.url, collector.url)
        acted(site, endpoint)
        messages, files = sent(site, endpoint, smith, collector), site.files()
        if asked.keep:
            shutil.copytree(root, asked.keep, symlinks=True)
    for place, count in Counter(site.found).most_common():
        print(f"{count:5d}  {place}", file=sys.stderr)
    return report(
        "Canaries",
        [
            Figure("canaries.found", len(site.found), "places", "secrets planted", len(canaries), "<= 0"),
            Figure("canaries.commands", site.commands.total(), "commands", "that failed as they should",
                   site.commands.total() - site.commands[0]),
            Figure("canaries.files", files, "files", "messages that were sent", messages),
            Figure("canaries.processes", site.looks, "looks at a process below", "commands", site.commands.total()),
        ],
    )  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
