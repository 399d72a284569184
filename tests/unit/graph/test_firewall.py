"""What one answer breaks stays within its experiment: the run goes on, the fault is recorded with its input."""

from __future__ import annotations

import errno
import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

os.environ["LANGGRAPH_STRICT_MSGPACK"] = "true"

from agents.author import Critique, Draft, Specimen, Step
from graph.doubles import ScriptedAuthor
from records.errors import LedgerError, MachineError, UsageError
from tests.support.few import few
from tests.support.scripted_run import SEED, Bench, faster, host_code_beside, ideas, only_first

FAULTS: list[Callable[[], Exception]] = [
    lambda: UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates not allowed"),
    lambda: RecursionError("maximum recursion depth exceeded"),
    lambda: TypeError("'<' not supported between instances of 'str' and 'int'"),
    lambda: UsageError("a word that a person did not say"),
    lambda: MemoryError(),
    lambda: OSError(errno.ENAMETOOLONG, "File name too long"),
    lambda: AssertionError(),
]


class Faulty(ScriptedAuthor):
    """Meets a fault of the program whenever one of its roles is asked."""

    reads = True

    def __init__(self, role: str, fault: Callable[[], Exception], times: int = 99) -> None:
        def critic(step: Step) -> Critique:
            return Critique(True)

        super().__init__(ideas, only_first("// fail compile no") if role == "repair" else with_host_code, critic)
        self._role, self._fault, self._left = role, fault, times

    def _meet(self, role: str, experiment: str = "g001-e1") -> None:
        if role == self._role and experiment == "g001-e1" and self._left:
            self._left -= 1
            raise self._fault()

    def select(self, *asked: Any) -> Any:
        self._meet("select")
        return super().select(*asked)

    def queries(self, *asked: Any) -> Any:
        self._meet("queries")
        return super().queries(*asked)

    def plan(self, step: Step, *asked: Any) -> Any:
        self._meet("plan" if step.generation == 2 else "")
        return super().plan(step, *asked)

    def write(self, step: Step, *asked: Any) -> Draft:
        self._meet("write", step.experiment_id)
        return super().write(step, *asked)

    def repair(self, step: Step, *asked: Any) -> Draft:
        self._meet("repair", step.experiment_id)
        return super().repair(step, *asked)

    def critique(self, step: Step, *asked: Any) -> Critique:
        self._meet("critique", step.experiment_id)
        return super().critique(step, *asked)


def with_host_code(step: Step, base: Specimen) -> str:
    return host_code_beside(faster(step, base))


def bench_of(folder: Path, author: ScriptedAuthor) -> Bench:
    bench = Bench(folder, faster, SEED + "// waves = 8\n", generations=2)
    bench.author, bench.context = author, replace(bench.context, author=author)
    return bench


ROLES = ("select", "queries", "plan", "write", "repair", "critique")


@pytest.mark.slow
@pytest.mark.parametrize(("fault", "role"), few(itertools.product(FAULTS, ROLES), 5))  # of each at least one
def test_a_fault_of_the_program_over_an_answer_never_ends_the_run(
    tmp_path: Path, role: str, fault: Callable[[], Exception]
) -> None:
    bench = bench_of(tmp_path, Faulty(role, fault))
    run = bench.drive()
    assert run.status == "done"
    ledger = bench.context.ledger
    told = [e for e in ledger.events(run.id) if e.kind == "fault"]
    assert told, "a fault is said"
    digest = str(told[0].payload["message"]).split()[-1]
    report = json.loads(bench.context.artefacts.text(digest))
    assert report["error"] == type(fault()).__name__
    assert any("test_firewall.py" in frame for frame in report["frames"])
    statuses = bench.statuses()
    assert statuses["g001-e2-a0"] == "accepted"
    if role in ("write", "repair", "critique"):
        failed = [a for a in bench.attempts().values() if a.experiment_id == "g001-e1" and a.status == "failed"]
        assert len(failed) == 1
        assert "not of the idea" in failed[0].reason
        asked = len(bench.author.asked)
        assert bench.drive().status == "done"
        assert len(bench.author.asked) == asked


def test_a_fault_that_passes_costs_nothing(tmp_path: Path) -> None:
    bench = bench_of(tmp_path, Faulty("write", FAULTS[0], times=1))
    assert bench.drive().status == "done"
    assert bench.statuses()["g001-e1-a0"] == "accepted"


@pytest.mark.parametrize(
    "fault", [lambda: LedgerError("the ledger is locked"), lambda: OSError(errno.ENOSPC, "No space left on device")]
)
def test_a_machine_at_fault_pauses_the_run(tmp_path: Path, fault: Callable[[], Exception]) -> None:
    bench = bench_of(tmp_path, Faulty("write", fault))
    with pytest.raises(MachineError):
        bench.drive()
    assert bench.context.ledger.run("table-run").pause == "machine"


def test_one_kernel_over_which_a_sound_lab_fails_twice_is_given_up(tmp_path: Path) -> None:
    bench = Bench(tmp_path, only_first("// machine verify the lab died over it", 99))
    assert bench.drive().status == "done"
    assert list(bench.statuses().values()).count("failed") == 1
    assert bench.statuses()["g001-e2-a0"] == "accepted"
