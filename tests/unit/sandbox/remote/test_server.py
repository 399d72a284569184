"""A worker on a socket: it answers who knows the token, and nobody else; whatever goes wrong is one sentence."""

from __future__ import annotations

import contextlib
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from graph.doubles import TableSandbox
from graph.drive import drive
from records.errors import SettingsError, SpoolError
from records.evaluation import Evaluation
from sandbox.remote.channel import SignedChannel, checked_token, parse_address, read_token
from sandbox.remote.message import Request, Result
from sandbox.remote.pool import WorkerPool, WorkerSlot
from sandbox.remote.server import ServedPost, Server
from tests.support.stations import make_bench, make_context, make_task, through

TOKEN = secrets.token_hex(32)


@contextlib.contextmanager
def serving(
    folder: Path, sandbox: TableSandbox, token: str = TOKEN, slots: int = 1, address: tuple[str, int] = ("127.0.0.1", 0)
) -> Iterator[tuple[tuple[str, int], list[str]]]:
    """A served worker's address and what it noted."""
    notes: list[str] = []
    server = Server(address, token, make_bench(make_task(folder), sandbox, slots=slots), notes.append)
    stop = threading.Event()
    thread = threading.Thread(target=server.run, args=(stop,))
    thread.start()
    try:
        yield server.address, notes
    finally:
        stop.set()
        thread.join()


def test_a_run_on_a_served_worker_ends_as_the_same_run_at_hand(tmp_path: Path) -> None:
    undisturbed = make_context(tmp_path / "whole", TableSandbox())
    drive(undisturbed, tmp_path / "whole" / "checkpoint.db")
    sandbox = TableSandbox()
    with serving(tmp_path, sandbox, slots=2) as (address, notes):
        context = make_context(tmp_path / "served", through(ServedPost(address, TOKEN)))
        assert drive(context, tmp_path / "served" / "checkpoint.db").status == "done"
    attempts = [
        [(a.id, a.status, a.geomean_us, a.reason) for a in c.ledger.attempts(c.run.id)] for c in (undisturbed, context)
    ]
    assert attempts[0] == attempts[1]
    assert len(sandbox.calls) == len(set(sandbox.calls)), "work was done twice"
    assert notes == []


@pytest.mark.parametrize("token", ["x" * 64, TOKEN[:-1] + ("0" if TOKEN[-1] != "0" else "1")], ids=["x", "near"])
def test_a_wrong_token_is_refused_before_anything_is_told(tmp_path: Path, token: str) -> None:
    sandbox = TableSandbox()
    with (
        serving(tmp_path, sandbox) as (address, notes),
        pytest.raises(SpoolError, match="refused the token; set KERNEL_SCIENTIST_WORKER_TOKEN"),
    ):
        ServedPost(address, token)
    assert sandbox.calls == []
    assert "did not prove the token" in notes[0]
    assert TOKEN not in notes[0]


def raw(address: tuple[str, int]) -> socket.socket:
    return socket.create_connection(address, timeout=10)


def read_all(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(OSError):
        while part := connection.recv(1 << 16):
            data += part
    return data


@pytest.mark.parametrize(
    "first",
    [
        b"GET / HTTP/1.1\r\n\r\n",
        (1 << 30).to_bytes(4, "big") + bytes(36),
        (4).to_bytes(4, "big") + bytes(32) + b"nope",
        (2).to_bytes(4, "big") + bytes(32) + b"{}",
        (2).to_bytes(4, "big") + b"\1" * 32 + b"{}",
        (40).to_bytes(4, "big") + bytes(32) + b'{"nonce": 1, "proof": "\\ud800 \\ud800 a"}'[:40],
    ],
)
def test_a_stranger_gets_a_nonce_and_nothing_else(tmp_path: Path, first: bytes) -> None:
    sandbox = TableSandbox()
    with serving(tmp_path, sandbox) as (address, _):
        with raw(address) as stranger:
            stranger.sendall(first)
            with contextlib.suppress(OSError):  # the worker may have hung up on what it has read of it
                stranger.shutdown(socket.SHUT_WR)
            answer = read_all(stranger)
        assert b"harness" not in answer
        assert b"proof" not in answer
        assert ServedPost(address, TOKEN).place("mi300x"), "the worker goes on"
    assert sandbox.calls == []


@contextlib.contextmanager
def between(address: tuple[str, int], meddle: Callable[[int, bytes], bytes]) -> Iterator[tuple[str, int]]:
    """Someone on the way who changes the worker's bytes, part by part."""
    pumps: list[threading.Thread] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        stop = threading.Event()

        def pump(source: socket.socket, sink: socket.socket, change: Callable[[int, bytes], bytes]) -> None:
            count = 0
            with contextlib.suppress(OSError):
                while part := source.recv(1 << 16):
                    sink.sendall(change(count, part))
                    count += 1
            for end in (source, sink):
                with contextlib.suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            source.close()

        def attend() -> None:
            while not stop.is_set():
                with contextlib.suppress(TimeoutError):
                    asker, _ = server.accept()
                    asker.settimeout(None)
                    worker = raw(address)
                    for args in ((asker, worker, lambda n, part: part), (worker, asker, meddle)):
                        pumps.append(threading.Thread(target=pump, args=args))
                        pumps[-1].start()

        attending = threading.Thread(target=attend)
        attending.start()
        try:
            yield server.getsockname()[:2]
        finally:
            stop.set()
            for thread in (attending, *pumps):
                thread.join()


def test_what_is_altered_on_the_way_is_noticed(tmp_path: Path) -> None:
    def meddle(count: int, part: bytes) -> bytes:
        return part.replace(b"lab:table", b"lab:tabby")

    with (
        serving(tmp_path, TableSandbox()) as (address, _),
        between(address, meddle) as link,
        pytest.raises(SpoolError, match="was altered on the way"),
    ):
        ServedPost(link, TOKEN)


def test_a_worker_that_does_not_know_the_token_is_not_believed() -> None:
    """It has copied the greeting and cannot prove more. A machine busy for the whole greeting is asked again."""
    assert "does not know the token" in next(m for m in (lied() for _ in range(5)) if "timed out" not in m)


def lied() -> str:
    """The sentence for such a worker."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def lie() -> None:
            connection, _ = server.accept()
            with connection, contextlib.suppress(SpoolError):
                channel = SignedChannel(connection, "a client")
                channel.send({"service": "kernel-scientist worker", "format": 1, "nonce": "0" * 64})
                channel.receive()
                channel.send({"proof": "0" * 64})

        thread = threading.Thread(target=lie)
        thread.start()
        with pytest.raises(SpoolError) as caught:
            ServedPost(server.getsockname()[:2], TOKEN)
        thread.join()
    return str(caught.value)


class Dying(TableSandbox):
    """Ends the connection in the middle of its first piece of work."""

    def __init__(self) -> None:
        super().__init__()
        self.cut: Callable[[], None] = lambda: None

    def _judge(self, *args: Any) -> Evaluation:
        self.cut()
        return super()._judge(*args)


def test_a_worker_lost_in_the_middle_pauses_the_run_which_goes_on_with_it_back(tmp_path: Path) -> None:
    sandbox, cut = Dying(), list[int]()

    def meddle(count: int, part: bytes) -> bytes:
        if cut and cut[0] == 1:
            cut[0] = 2
            raise OSError("the cable is out")
        return part

    sandbox.cut = lambda: None if cut else cut.append(1)
    with serving(tmp_path, sandbox) as (address, _), between(address, meddle) as link:
        context = make_context(tmp_path / "run", through(ServedPost(link, TOKEN)))
        with pytest.raises(SpoolError, match=r"the worker at .* then resume the run"):
            drive(context, tmp_path / "run" / "checkpoint.db")
        assert context.ledger.run(context.run.id).status == "paused"
        assert drive(context, tmp_path / "run" / "checkpoint.db").status == "done"
    ids = [a.id for a in context.ledger.attempts(context.run.id)]
    assert len(ids) == len(set(ids))


def test_a_worker_that_cannot_be_reached_or_is_not_one() -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = free.getsockname()[:2]
    with pytest.raises(SpoolError, match=r"cannot be reached .*; start it with: python -m sandbox\.worker --serve"):
        ServedPost(address, TOKEN)


def test_a_broken_machine_is_told_to_the_asker_and_the_worker_goes_on(tmp_path: Path) -> None:
    with serving(tmp_path, TableSandbox()) as (address, notes):
        remote, task = through(ServedPost(address, TOKEN)), make_task(tmp_path)
        with pytest.raises(SpoolError, match="failed: the GPU is lost"):
            remote.compile(remote.prepare("// machine compile the GPU is lost\n", task))
        assert remote.compile(remote.prepare("// fine\n", task)).verdict.accepted
    assert notes == ["table 0: the GPU is lost"]


def test_a_worker_that_has_become_another_is_refused(tmp_path: Path) -> None:
    with serving(tmp_path, TableSandbox()) as (address, _):
        remote = through(ServedPost(address, TOKEN))
    with (
        serving(tmp_path, TableSandbox("another GPU"), address=address),
        pytest.raises(SpoolError, match="has become another GPU with table 1 for mi300x, it was lab:table"),
    ):
        remote.compile(remote.prepare("// x\n", make_task(tmp_path)))


def test_a_request_for_another_target_is_not_sent(tmp_path: Path) -> None:
    with serving(tmp_path, TableSandbox()) as (address, _):
        post = ServedPost(address, TOKEN)
        assert post.place("h200") is None
        with pytest.raises(SpoolError, match="is for mi300x, not for h200"):
            post.ask(Request("1", "h200", post.id, 7, "table", "d", "// x"))


def test_an_answer_to_another_request_is_refused(tmp_path: Path) -> None:
    class Confused(WorkerPool):
        def answer(self, slot: WorkerSlot, request: Request) -> Result:
            return replace(super().answer(slot, request), request="0" * 64)

    task = make_task(tmp_path)
    bench = make_bench(task, TableSandbox())
    confused = Confused(bench.worker, bench.place, bench.slots, bench.find_task)
    server = Server(("127.0.0.1", 0), TOKEN, confused, lambda text: None)
    stop = threading.Event()
    thread = threading.Thread(target=server.run, args=(stop,))
    thread.start()
    try:
        with pytest.raises(SpoolError, match="answers another request"):
            through(ServedPost(server.address, TOKEN)).compile(
                through(ServedPost(server.address, TOKEN)).prepare("// x\n", task)
            )
    finally:
        stop.set()
        thread.join()


def test_an_address_that_is_taken_is_one_sentence(tmp_path: Path) -> None:
    with serving(tmp_path, TableSandbox()) as (address, _), pytest.raises(SpoolError, match="cannot listen on"):
        Server(address, TOKEN, make_bench(make_task(tmp_path), TableSandbox()), lambda text: None)


@pytest.mark.parametrize("text", ["", "host", "host:", ":80", "host:port", "host:99999", "host:-1"])
def test_an_address_of_another_form_is_refused(text: str) -> None:
    with pytest.raises(SettingsError, match="HOST:PORT"):
        parse_address(text)


def test_a_token_is_long_and_its_owners_alone(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(f"{TOKEN}\n")
    path.chmod(0o644)
    with pytest.raises(SettingsError, match="can be read by others; run: chmod 600"):
        read_token(path)
    path.chmod(0o600)
    assert read_token(path) == TOKEN
    path.write_text("short")
    with pytest.raises(SettingsError, match="at least 16 characters"):
        read_token(path)
    with pytest.raises(SettingsError, match="cannot be read"):
        read_token(tmp_path / "none")
    with pytest.raises(SettingsError, match="at least 16 characters"):
        checked_token("")
