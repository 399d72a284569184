"""The spool folder: whole files, one worker a request, one result, and a sentence for whatever is wrong."""

from __future__ import annotations

import contextlib
import json
import os
import resource
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from graph.doubles import TableSandbox
from records.errors import LabError, Pending, SpoolError
from sandbox.candidate.prepare import prepare
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import answer
from sandbox.remote.message import Place, Request, Result, pack, unpack
from sandbox.remote.spool import MOST_TRIES, Claim, Spool
from sandbox.worker import Folder
from tests.support.stations import make_bench, make_task

PLACE = Place("mi300x", "lab:table", "table 1")


def request_of(spool: Spool, source: str = "// time_us = 5\n", target: str = "mi300x") -> Request:
    return Request(judge_digest(), target, spool.id, 7, "table", "d", source, None, ("compile",))


def result_of(request: Request, spool: Spool) -> Result:
    return answer(request, TableSandbox(), make_task(spool.folder / "task"), "worker-1", PLACE)


def ask(spool: Spool, request: Request) -> Pending:
    with pytest.raises(Pending) as caught:
        spool.ask(request)
    return caught.value


def claim_request(spool: Spool, request: Request) -> Claim:
    claim = spool.claim(request.hash)
    assert claim is not None
    return claim


@pytest.fixture
def spool(tmp_path: Path) -> Spool:
    return Spool(tmp_path / "spool")


def test_a_question_is_written_once_and_answered_by_its_result(spool: Spool) -> None:
    request = request_of(spool)
    waiting = ask(spool, request)
    assert (waiting.awaited, waiting.place, waiting.exit_code) == ((request.hash,), str(spool.folder), 1)
    assert spool.open_requests() == [request.hash]
    assert spool.request(request.hash) == request
    result = result_of(request, spool)
    assert spool.publish(result, claim_request(spool, request))
    assert Spool(spool.folder).ask(request) == result
    assert spool.open_requests() == []
    assert spool.place("mi300x") == PLACE, "the first result pins where the results come from"


def test_the_id_of_a_folder_stays_and_is_its_own(spool: Spool, tmp_path: Path) -> None:
    assert Spool(spool.folder).id == spool.id != Spool(tmp_path / "other").id
    candidate = prepare("// x", make_task(tmp_path))
    assert request_of(spool).key(candidate) != request_of(Spool(tmp_path / "other")).key(candidate)


def test_two_workers_do_not_take_one_request(spool: Spool) -> None:
    request = request_of(spool)
    spool.put(request)
    claims: list[Claim | None] = []
    barrier = threading.Barrier(8)

    def take() -> None:
        barrier.wait()
        claims.append(Spool(spool.folder).claim(request.hash))

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([c for c in claims if c is not None]) == 1


def test_a_lost_worker_loses_its_claim_and_a_beating_one_does_not(spool: Spool) -> None:
    request = request_of(spool)
    spool.put(request)
    lost = claim_request(spool, request)
    assert spool.claim(request.hash) is None
    os.utime(lost.path, (lost.path.stat().st_mtime - 2 * spool.lease_s,) * 2)
    lost.beat()
    assert spool.claim(request.hash) is None
    lost.expire()
    second = claim_request(spool, request)
    assert (lost.number, second.number) == (1, 2)
    assert spool.publish(replace(result_of(request, spool), worker="second"), second)
    assert not spool.publish(replace(result_of(request, spool), worker="late"), lost), "the first result counts"
    assert spool.ask(request).worker == "second"
    assert not list((spool.folder / "claims").iterdir())


def test_a_claim_given_back_counts_as_no_try(spool: Spool) -> None:
    request = request_of(spool)
    spool.put(request)
    claim_request(spool, request).drop()
    assert claim_request(spool, request).number == 1


def test_a_request_on_which_workers_are_lost_again_and_again_is_given_up(spool: Spool) -> None:
    sandbox, task = TableSandbox(), make_task(spool.folder / "task")
    request = replace(request_of(spool), digest=task.digest)
    spool.put(request)
    for _ in range(MOST_TRIES):
        claim_request(spool, request).expire()
    Folder(spool, make_bench(task, sandbox), once=True).run(threading.Event())
    assert sandbox.calls == []
    with pytest.raises(SpoolError, match=f"{MOST_TRIES} workers failed or were lost on it"):
        spool.ask(request)
    assert ask(spool, request).refused == (), "it is open again for a mended worker"
    assert claim_request(spool, request).number == 1


def torn(data: bytes) -> bytes:
    return data[: len(data) // 2]


def altered(data: bytes) -> bytes:
    return data.replace(b'"accepted":true', b'"accepted":false').replace(b'"accepted": true', b'"accepted": false')


def not_json(data: bytes) -> bytes:
    return b"\xff\xfe nothing"


def other_format(data: bytes) -> bytes:
    return json.dumps({**json.loads(data), "format": 99}).encode()


def of_another_shape(data: bytes) -> bytes:
    return b'[{"deep": ' * 2000


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (torn, "torn or damaged"),
        (altered, "damaged"),
        (not_json, "torn or damaged"),
        (lambda data: b"", "torn"),
        (other_format, "another format"),
        (of_another_shape, "torn or damaged"),
    ],
)
def test_a_result_that_cannot_be_read_is_put_aside_and_asked_for_again(spool: Spool, spoil: object, words: str) -> None:
    request = request_of(spool)
    data = pack(result_of(request, spool))
    assert spoil(data) != data  # type: ignore[operator]
    (spool.folder / "results" / f"{request.hash}.json").write_bytes(spoil(data))  # type: ignore[operator]
    (why,) = ask(spool, request).refused
    assert words in why
    assert spool.open_requests() == [request.hash]
    suffixes = sorted(p.suffix for p in (spool.folder / "refused").iterdir())
    assert suffixes == [".json", ".txt"], "nothing is thrown away"
    assert spool.publish(result_of(request, spool), claim_request(spool, request))
    assert spool.ask(request).entries


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"request": "0" * 64}, "answers another request"),
        ({"harness": "0"}, f"is stale: it was made by harness 0, this program has {judge_digest()}"),
        ({"place": Place("h200", "lab:table", "table 1")}, "is foreign: it is for h200, not for mi300x"),
        ({"place": Place("mi300x", "another GPU", "table 1")}, "is foreign: it comes from another GPU"),
        ({"place": Place("mi300x", "lab:table", "table 2")}, "the results before from lab:table with table 1"),
        ({"entries": ()}, "is empty"),
    ],
)
def test_a_result_that_does_not_belong_here_is_put_aside(spool: Spool, changes: dict[str, object], words: str) -> None:
    spool.pin(PLACE)
    request = request_of(spool)
    result = replace(result_of(request, spool), **changes)  # type: ignore[arg-type]
    (spool.folder / "results" / f"{request.hash}.json").write_bytes(pack(result))
    (why,) = ask(spool, request).refused
    assert words in why
    assert spool.open_requests() == [request.hash]


def test_a_worker_of_another_kind_is_told_to_use_another_folder(spool: Spool) -> None:
    spool.pin(PLACE)
    bench = make_bench(make_task(spool.folder / "task"), TableSandbox("another GPU"))
    with pytest.raises(SpoolError, match="come from lab:table with table 1 for mi300x, and this is another GPU"):
        Folder(spool, bench, once=True)


def test_a_request_that_cannot_be_read_is_left_alone_and_mended_by_asking_again(spool: Spool) -> None:
    sandbox, task = TableSandbox(), make_task(spool.folder / "task")
    request = replace(request_of(spool), digest=task.digest)
    path = spool.folder / "requests" / f"{request.hash}.json"
    path.write_bytes(torn(pack(request)))
    folder = Folder(spool, make_bench(task, sandbox), once=True)
    folder.run(threading.Event())
    assert folder.done == 0
    ask(spool, request)
    assert unpack(Request, path.read_bytes()) == request
    mended = Folder(spool, make_bench(task, sandbox), once=True)
    mended.run(threading.Event())
    assert mended.done == 1


def test_requests_for_another_target_are_left_to_other_workers(spool: Spool) -> None:
    request = request_of(spool, target="h200")
    spool.put(request)
    folder = Folder(spool, make_bench(make_task(spool.folder / "task"), TableSandbox()), once=True)
    folder.run(threading.Event())
    assert (folder.done, spool.open_requests()) == (0, [request.hash])
    assert not list((spool.folder / "claims").iterdir())


def test_several_slots_share_the_work_and_do_each_request_once(spool: Spool) -> None:
    sandbox, task = TableSandbox(), make_task(spool.folder / "task")
    requests = [request_of(spool, f"// time_us = {n}\n") for n in range(12)]
    for request in requests:
        spool.put(request)
    folder = Folder(spool, make_bench(task, sandbox, slots=4), once=True)
    folder.run(threading.Event())
    assert folder.done == len(sandbox.calls) == len({key for _, key in sandbox.calls}) == 12
    assert all(spool.ask(request).entries for request in requests)


def test_a_broken_machine_gives_its_request_back_and_stops_the_worker(spool: Spool) -> None:
    task = make_task(spool.folder / "task")
    spool.put(request_of(spool, "// machine compile the GPU is lost\n"))
    folder = Folder(spool, make_bench(task, TableSandbox()), once=True)
    with pytest.raises(LabError, match="the GPU is lost"):
        folder.run(threading.Event())
    assert len(spool.open_requests()) == 1
    assert claim_request(spool, request_of(spool, "// machine compile the GPU is lost\n")).number == 2


@contextlib.contextmanager
def full_disk() -> Iterator[None]:
    """No file of this process can grow: what a full disk is like."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def test_a_full_disk_is_one_sentence_and_loses_nothing(spool: Spool) -> None:
    request, answered = request_of(spool), request_of(spool, "// time_us = 6\n")
    spool.put(answered)
    result, claim = result_of(answered, spool), claim_request(spool, answered)
    with full_disk(), pytest.raises(SpoolError, match=r"cannot be written to \(.*\); free some space or repair"):
        spool.ask(request)
    with full_disk(), pytest.raises(SpoolError, match="cannot be written to"):
        spool.publish(result, claim)
    assert ask(spool, request).refused == ()
    assert spool.publish(result, claim)
    assert spool.ask(answered) == result
    assert [p.name for p in (spool.folder / "results").iterdir()] == [f"{answered.hash}.json"], "no pieces are left"


@pytest.mark.parametrize("part", ["requests", "results", "claims"])
def test_a_folder_that_cannot_be_used_is_one_sentence(spool: Spool, part: str) -> None:
    (spool.folder / part).rmdir()
    (spool.folder / part).write_text("in the way")
    with pytest.raises(SpoolError, match=r"the spool folder .* cannot be written to") as caught:
        Spool(spool.folder)
    assert str(caught.value).count(". ") == 0


def test_a_folder_that_disappears_under_a_run_is_one_sentence(spool: Spool) -> None:
    request = request_of(spool)
    for part in sorted(spool.folder.rglob("*"), reverse=True):
        part.rmdir() if part.is_dir() else part.unlink()
    spool.folder.rmdir()
    spool.folder.write_text("in the way")
    with pytest.raises(SpoolError, match="cannot be read"):
        spool.ask(request)
    with pytest.raises(SpoolError, match="cannot be read"):
        spool.open_requests()


def test_a_damaged_name_plate_is_refused(spool: Spool) -> None:
    (spool.folder / "spool.json").write_text("{")
    with pytest.raises(SpoolError, match=r"has a damaged spool\.json; choose a new folder"):
        Spool(spool.folder)
