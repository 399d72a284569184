"""The seal on a spool folder: what the owner's key did not make is no request and no result."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from graph.doubles import TableSandbox
from records.errors import Pending
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import answer
from sandbox.remote.folder_key import FolderKey
from sandbox.remote.message import Place, Request, Result, pack
from sandbox.remote.spool import Spool
from sandbox.worker import Folder
from tasks.task import Task
from tests.support.stations import make_bench, make_task

KEY = "5e" * 32  # always the same: it is part of test names
PLACE = Place("mi300x", "lab:table", "table 1")


@pytest.fixture
def task(tmp_path: Path) -> Task:
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


def test_a_sealed_folder_works_and_its_key_is_in_no_file(tmp_path: Path, task: Task) -> None:
    spool = Spool(tmp_path / "spool", key=KEY)
    request = request_of(spool, task)
    spool.put(request)
    assert work(Spool(spool.folder, key=KEY), task) == 1
    assert spool.ask(request).entries
    assert all(KEY.encode() not in p.read_bytes() for p in spool.folder.rglob("*") if p.is_file())
    assert KEY not in repr(spool.__dict__)


def other_key(spool: Spool, request: Request, result: Result) -> bytes:
    return FolderKey(spool.id, b"another key, as long").sealed("result", request.hash, pack(result))


def no_seal(spool: Spool, request: Request, result: Result) -> bytes:
    return pack(result)


def other_folder(spool: Spool, request: Request, result: Result) -> bytes:
    return FolderKey("0" * 32, KEY.encode()).sealed("result", request.hash, pack(result))


def other_request(spool: Spool, request: Request, result: Result) -> bytes:
    """A right result of another request, sealed by the owner's own worker."""
    return FolderKey(spool.id, KEY.encode()).sealed("result", "1" * 64, pack(result))


def seal_of_a_request(spool: Spool, request: Request, result: Result) -> bytes:
    return FolderKey(spool.id, KEY.encode()).sealed("request", request.hash, pack(result))


def altered(spool: Spool, request: Request, result: Result) -> bytes:
    data = FolderKey(spool.id, KEY.encode()).sealed("result", request.hash, pack(result))
    return data.replace(b'"accepted": true', b'"accepted": null')


def moved_seal(spool: Spool, request: Request, result: Result) -> bytes:
    seal = FolderKey(spool.id, KEY.encode())
    head = seal.sealed("result", request.hash, b"{}").split(b"\n")[0]
    return head + b"\n" + pack(result)


def cut_seal(spool: Spool, request: Request, result: Result) -> bytes:
    return FolderKey(spool.id, KEY.encode()).sealed("result", request.hash, pack(result))[:40]


FORGERIES = [other_key, no_seal, other_folder, other_request, seal_of_a_request, altered, moved_seal, cut_seal]


@pytest.mark.parametrize("forged", FORGERIES, ids=lambda forged: forged.__name__)
def test_a_forged_replayed_or_swapped_result_is_refused(
    tmp_path: Path, task: Task, forged: Callable[[Spool, Request, Result], bytes]
) -> None:
    spool = Spool(tmp_path / "spool", key=KEY)
    request = request_of(spool, task)
    right = result_of(request, task)
    data = forged(spool, request, right)
    assert data != FolderKey(spool.id, KEY.encode()).sealed("result", request.hash, pack(right))
    (spool.folder / "results" / f"{request.hash}.json").write_bytes(data)
    with pytest.raises(Pending) as waiting:
        spool.ask(request)
    assert "seal" in waiting.value.refused[0]
    assert KEY not in str(waiting.value)


@pytest.mark.parametrize(("asks", "works"), [("", KEY), (KEY, ""), (KEY, "x" * 32)])
def test_a_worker_answers_only_requests_under_its_own_key(tmp_path: Path, task: Task, asks: str, works: str) -> None:
    spool = Spool(tmp_path / "spool", key=asks)
    spool.put(request_of(spool, task))
    assert work(Spool(spool.folder, key=works), task) == 0
    assert work(Spool(spool.folder, key=asks), task) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"source": 5},
        {"tunables": {"A": "x"}},
        {"seed": []},
        {"purposes": "compile"},
        {"files": {"task.toml": 1}},
        {"target": {"a": 1}},
        {"harness": None},
    ],
    ids=lambda change: next(iter(change)),
)
def test_a_request_with_fields_of_other_types_is_passed_over(
    tmp_path: Path, task: Task, change: dict[str, object]
) -> None:
    spool = Spool(tmp_path / "spool")
    body = {**json.loads(pack(request_of(spool, task)))["body"], **change}
    altered = replace(request_of(spool, task), **change)  # type: ignore[arg-type]
    (spool.folder / "requests" / f"{altered.hash}.json").write_bytes(pack(altered))
    assert json.loads(pack(altered))["body"] == body
    assert work(spool, task) == 0
