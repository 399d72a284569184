"""Random faults on a spool folder, seeded: whatever workers do to it, each question gets its own answer, once."""

from __future__ import annotations

import contextlib
import os
import random
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from graph.doubles import TableSandbox
from records.errors import Pending, SpoolError
from sandbox.judge_digest import judge_digest
from sandbox.remote.bundle import answer
from sandbox.remote.message import Place, Request, Result, pack
from sandbox.remote.spool import Claim, Spool
from tasks.task import Task
from tests.support.stations import make_task

PLACE = Place("mi300x", "lab:table", "table 1")


@dataclass
class World:
    """A folder, its questions, and workers of every kind; each step is what one of them does next."""

    spool: Spool
    task: Task
    dice: random.Random
    requests: list[Request]
    claimed: list[tuple[Claim, Request]] = field(default_factory=list)
    answers: dict[str, Result] = field(default_factory=dict)
    sentences: list[str] = field(default_factory=list)

    def result(self, request: Request) -> Result:
        return answer(request, TableSandbox(), self.task, f"worker-{self.dice.randrange(3)}", PLACE)

    def path(self, request: Request) -> Path:
        return self.spool.folder / "results" / f"{request.hash}.json"

    def take(self) -> None:
        request = self.dice.choice(self.requests)
        claim = self.spool.claim(request.hash)
        if claim is not None:
            self.claimed.append((claim, request))

    def publish(self) -> None:
        if self.claimed:
            claim, request = self.claimed.pop(self.dice.randrange(len(self.claimed)))
            self.spool.publish(self.result(request), claim)
            if self.dice.random() < 0.3:
                self.spool.publish(replace(self.result(request), worker="a second time"), claim)

    def die(self) -> None:
        if self.claimed:
            self.claimed.pop(self.dice.randrange(len(self.claimed)))

    def be_slow(self) -> None:
        """Claims run out, also of workers that still work."""
        for path in (self.spool.folder / "claims").iterdir():
            os.utime(path, (0, 0))

    def spoil(self) -> None:
        """A copy that was cut off, another question's answer, another machine's, an old one's, a forged one."""
        request, other = self.dice.choice(self.requests), self.dice.choice(self.requests)
        good = self.result(request)
        wrong = [
            pack(good)[: self.dice.randrange(1, 400)],
            pack(replace(good, place=Place("mi300x", "B", "1"))),
            pack(replace(good, harness="0")),
            pack(good).replace(b"true", b"false"),
            b"",
        ]
        if other is not request:
            wrong.append(pack(self.result(other)))
        if not self.path(request).exists():
            self.path(request).write_bytes(self.dice.choice(wrong))

    def ask(self) -> None:
        request = self.dice.choice(self.requests)
        try:
            answer = self.spool.ask(request)
        except Pending as pending:
            self.sentences += pending.refused
        except SpoolError as error:
            self.sentences.append(str(error))
        else:
            before = self.answers.setdefault(request.hash, answer)
            assert replace(answer, seconds=0) == replace(before, seconds=0), "an answer changed"

    def end(self) -> None:
        """Everybody lost is given up, one honest worker and a patient asker are left."""
        for _ in range(10):
            self.be_slow()
            for name in self.spool.open_requests():
                with contextlib.suppress(SpoolError):
                    request, claim = self.spool.request(name), self.spool.claim(name)
                    if claim is not None:
                        self.spool.publish(self.result(request), claim)
            for request in self.requests:
                with contextlib.suppress(Pending, SpoolError):
                    self.answers.setdefault(request.hash, self.spool.ask(request))


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_lost_counted_twice_or_given_to_another(tmp_path: Path, seed: int) -> None:
    dice, spool = random.Random(seed), Spool(tmp_path / "spool")
    spool.pin(PLACE)
    requests = [
        Request(judge_digest(), "mi300x", spool.id, 7, "table", "d", f"// time_us = {n + 1}\n", None, ("benchmark",))
        for n in range(4)
    ]
    world = World(spool, make_task(tmp_path), dice, requests)
    for request in requests:
        spool.put(request)
    for _ in range(40):
        dice.choice(
            [
                world.take,
                world.take,
                world.publish,
                world.publish,
                world.die,
                world.be_slow,
                world.spoil,
                world.ask,
                world.ask,
            ]
        )()
    world.end()
    assert set(world.answers) == {request.hash for request in requests}
    for number, request in enumerate(requests):
        (entry,) = world.answers[request.hash].entries
        assert entry.evaluation.geomean_us == pytest.approx(number + 1), "another question's answer"
        assert entry.evaluation.key == request.key(TableSandbox().prepare(request.source, make_task(tmp_path)))
    assert sorted(p.stem for p in (spool.folder / "results").iterdir()) == sorted(world.answers)
    assert spool.open_requests() == []
    aside = list((spool.folder / "refused").glob("*.json"))
    assert len(aside) == len(list((spool.folder / "refused").glob("*.txt")))
