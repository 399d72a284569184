"""Whatever others put into a spool folder hurts nobody: each attack on the asker and on a worker, in one table."""

from __future__ import annotations

import os
import secrets
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph.doubles import TableSandbox
from records.errors import Pending, SpoolError
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import answer
from sandbox.remote.folder_key import FolderKey
from sandbox.remote.message import MOST_BYTES, Place, Request, Result
from sandbox.remote.spool import Spool
from sandbox.worker import MOST_NOTES, Folder
from tasks.task import Task
from tests.support.stations import make_bench, make_task

KEY = secrets.token_hex(32)
PLACE = Place("mi300x", "lab:table", "table 1")
SECRET = "the user's own file"


def fifo(path: Path) -> None:
    os.mkfifo(path)


def link_to_fifo(path: Path) -> None:
    os.mkfifo(path.parent.parent / "pipe")
    path.symlink_to(path.parent.parent / "pipe")


def link_to_secret(path: Path) -> None:
    path.symlink_to(path.parents[2] / "secret")


def hard_link_to_secret(path: Path) -> None:
    os.link(path.parents[2] / "secret", path)


def endless_device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def terminal(path: Path) -> None:
    path.symlink_to("/dev/tty")


def loop(path: Path) -> None:
    path.symlink_to(path)


def nowhere(path: Path) -> None:
    path.symlink_to("/nonexistent/\N{SNOWMAN}")


def folder(path: Path) -> None:
    path.mkdir()


def full_folder(path: Path) -> None:
    path.mkdir()
    (path / "inside").write_text("x")


def unix_socket(path: Path) -> None:
    old_folder = Path.cwd()
    os.chdir(path.parent)  # a socket's address must be short
    try:
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(path.name)
    finally:
        os.chdir(old_folder)


def sparse_giant(path: Path) -> None:
    with path.open("wb") as file:
        file.truncate(1 << 40)


def too_large(path: Path) -> None:
    path.write_bytes(b" " * (MOST_BYTES + 1))


def nothing(path: Path) -> None:
    path.write_bytes(b"")


def deep(path: Path) -> None:
    path.write_bytes(b"[" * 1_000_000)


def deep_objects(path: Path) -> None:
    path.write_bytes(b'{"a":' * 100_000 + b"1" + b"}" * 100_000)


def huge_number(path: Path) -> None:
    path.write_bytes(b'{"format": ' + b"9" * 1_000_000 + b"}")


def not_a_number(path: Path) -> None:
    path.write_bytes(b'{"format": NaN, "digest": Infinity}')


def surrogates(path: Path) -> None:
    path.write_bytes(b'{"format": 1, "digest": "\\ud800", "body": {"\\udfff": "\\ud800"}}')


def list_for_object(path: Path) -> None:
    path.write_bytes(b'[1, {"format": 1}]')


def body_of_another_kind(path: Path) -> None:
    path.write_bytes(b'{"format": 1, "digest": [], "body": null}')


def seal_without_key(path: Path) -> None:
    path.write_bytes(FolderKey("0" * 32, b"k" * 32).sealed("result", path.stem, b"{}"))


def noise(path: Path) -> None:
    path.write_bytes(bytes(range(256)) * 100)


ATTACKS: list[Callable[[Path], None]] = [
    *(fifo, link_to_fifo, link_to_secret, hard_link_to_secret, endless_device, terminal, loop, nowhere, folder),
    *(full_folder, unix_socket, sparse_giant, too_large, nothing, deep, deep_objects, huge_number, not_a_number),
    *(surrogates, list_for_object, body_of_another_kind, seal_without_key, noise),
]


@pytest.fixture
def task(tmp_path: Path) -> Task:
    (tmp_path / "secret").write_text(SECRET)
    os.utime(tmp_path / "secret", (5, 5))
    return make_task(tmp_path / "task")


def request_of(spool: Spool, task: Task, source: str = "// time_us = 5\n") -> Request:
    purposes = ("compile", "verify")
    return Request(judge_digest(), "mi300x", spool.id, 7, task.name, task.digest, source, purposes=purposes)


def result_of(request: Request, task: Task) -> Result:
    return answer(request, TableSandbox(), task, "worker-0", PLACE)


def work(spool: Spool, task: Task) -> int:
    """Done by one honest worker until nothing is left."""
    worker = Folder(spool, make_bench(task, TableSandbox()), once=True)
    worker.run(threading.Event())
    return worker.done


def untouched(tmp_path: Path) -> bool:
    secret = tmp_path / "secret"
    return (secret.read_text(), secret.stat().st_mtime) == (SECRET, 5)


@pytest.mark.parametrize("key", ["", KEY], ids=["open", "sealed"])
@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_on_a_result(tmp_path: Path, task: Task, attack: Callable[[Path], None], key: str) -> None:
    """It is put aside with a reason, the request is open again, and the honest answer arrives."""
    spool = Spool(tmp_path / "spool", key=key)
    request = request_of(spool, task)
    attack(spool.folder / "results" / f"{request.hash}.json")
    with pytest.raises(Pending) as waiting:
        spool.ask(request)
    assert len(waiting.value.refused) == 1
    assert SECRET not in str(waiting.value)
    assert work(spool, task) == 1
    assert replace(spool.ask(request), seconds=0) == replace(result_of(request, task), seconds=0, worker="worker-1")
    assert untouched(tmp_path)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_on_a_request(tmp_path: Path, task: Task, attack: Callable[[Path], None]) -> None:
    """A worker passes it over and does the others; the asker writes its own in its place."""
    spool = Spool(tmp_path / "spool")
    request, other = request_of(spool, task), request_of(spool, task, "// time_us = 6\n")
    attack(spool.folder / "requests" / f"{request.hash}.json")
    spool.put(other)
    assert work(spool, task) == 1
    with pytest.raises(Pending):
        spool.ask(request)
    assert work(spool, task) == 1
    assert spool.ask(request).entries
    assert untouched(tmp_path)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
def test_an_attack_on_a_claim(tmp_path: Path, task: Task, attack: Callable[[Path], None]) -> None:
    """It counts as a lost worker's once its time is over, also where it lies in the future; no link is followed."""
    spool = Spool(tmp_path / "spool")
    request = request_of(spool, task)
    spool.put(request)
    path = spool.folder / "claims" / f"{request.hash}.1"
    attack(path)
    os.utime(path, (1 << 33, 1 << 33), follow_symlinks=False)
    if attack is hard_link_to_secret:
        os.utime(path, (5, 5))
    assert work(spool, task) == 1
    assert spool.ask(request).entries
    assert untouched(tmp_path)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.parametrize("name", ["spool.json", "place-mi300x.json"])
def test_an_attack_on_what_the_folder_says_of_itself(
    tmp_path: Path, task: Task, attack: Callable[[Path], None], name: str
) -> None:
    spool = Spool(tmp_path / "spool")
    inside = tmp_path / "spool" / name
    inside.unlink(missing_ok=True)
    if attack in (link_to_secret, hard_link_to_secret):
        inside.symlink_to(tmp_path / "secret")
    else:
        (tmp_path / "spool" / "kept").mkdir()
        attack(tmp_path / "spool" / "kept" / "it")
        (tmp_path / "spool" / "kept" / "it").rename(inside)
    with pytest.raises(SpoolError, match="damaged"):
        Spool(spool.folder).place("mi300x")
    assert untouched(tmp_path)


def test_a_claim_that_is_replaced_by_a_link_is_not_followed(tmp_path: Path, task: Task) -> None:
    spool = Spool(tmp_path / "spool")
    request = request_of(spool, task)
    spool.put(request)
    claim = spool.claim(request.hash)
    assert claim is not None
    for replace_by in (link_to_secret, hard_link_to_secret, fifo):
        claim.path.unlink()
        replace_by(claim.path)
        claim.beat()
        claim.expire()
        assert untouched(tmp_path)


@pytest.mark.parametrize("part", ["requests", "claims", "results", "refused", "workers"])
def test_a_linked_part_is_refused(tmp_path: Path, task: Task, part: str) -> None:
    (tmp_path / "spool").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "spool" / part).symlink_to(tmp_path / "home")
    with pytest.raises(SpoolError, match=f"'{part}' is a link; choose a new folder"):
        Spool(tmp_path / "spool")
    assert list((tmp_path / "home").iterdir()) == []


@pytest.mark.slow
def test_odd_names_and_a_flood_are_passed_over(tmp_path: Path, task: Task, capsys: pytest.CaptureFixture[str]) -> None:
    """Each of them is looked at once, few are named, and the owner's request is answered."""
    spool = Spool(tmp_path / "spool")
    for part in ("requests", "results", "claims"):
        for name in (b"\xff\xfe.json", b"a\nb.json", b"..json", b"-rf", b".json", b"x" * 250, b"%s.json"):
            os.close(os.open(os.fsencode(spool.folder / part) + b"/" + name, os.O_CREAT | os.O_WRONLY))
        for number in range(3_000):
            (spool.folder / part / f"{number:064x}.junk").touch()
    for number in range(3_000):
        (spool.folder / "requests" / f"{number:064x}.json").touch()
    spool.put(request_of(spool, task))
    assert work(spool, task) == 1
    assert spool.ask(request_of(spool, task)).entries
    assert capsys.readouterr().err.count("\n") <= MOST_NOTES + 5
