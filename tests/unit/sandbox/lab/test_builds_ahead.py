"""Programs that are built beside the compilation for the GPU, each once, and not where they may be in vain."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from records.errors import NoAnswer
from records.evaluation import Finding
from sandbox.candidate.plan import Candidate
from sandbox.candidate.prepare import Prepared
from sandbox.lab.build.lab_program import LabProgram
from sandbox.lab.builds_ahead import BuildsAhead
from sandbox.lab.lab import Lab
from tasks.loader import load_task
from tests.support.lab_bench import evaluator as lab_evaluator

WAIT_S = 20.0
REFUSED = (Finding("over_limit", "too much"),)


class NotedLab(Lab):
    """Builds nothing: notes each choice that it is asked for, and what it was told of it."""

    def __init__(self, cores: int) -> None:
        self.cores = cores
        self.asked: list[tuple[Mapping[str, int], object]] = []
        self.begun = threading.Event()

    def build(
        self, candidate: Candidate, tunables: Mapping[str, int], **options: Any
    ) -> LabProgram | tuple[Finding, ...]:
        self.asked.append((dict(tunables), options["expressions"]))
        self.begun.set()
        if tunables["BLOCK"] == 256:
            raise NoAnswer("no answer")
        return REFUSED


@pytest.fixture(scope="module")
def tunable() -> Prepared:
    task = load_task("row_softmax")
    return lab_evaluator(1).prepare((Path(task.folder) / "seed_tunable.hip").read_text(encoding="utf-8"), task)


def choose(tunable: Prepared, number: int) -> Prepared:
    blocks = [choice for choice in tunable.choices if choice["BLOCK"] != 256]
    return tunable.choose(blocks[number])


def test_a_program_is_built_once_while_its_text_compiles(tunable: Prepared) -> None:
    lab = NotedLab(cores=2)
    ahead = BuildsAhead(lab)
    one, other = choose(tunable, 0), choose(tunable, 1)
    assert ahead.beside(one, lambda: "compiled") == "compiled" and not lab.asked, "its expressions are not known yet"
    ahead.expressions.keep(one.candidate.id, {"kernel": "address"})
    assert ahead.beside(other, lambda: lab.begun.wait(WAIT_S)), "the build waits for the compilation"
    assert ahead.program(other, {"kernel": "address"}, 0.0) == REFUSED
    assert lab.asked == [(dict(other.tunables), {"kernel": "address"})]
    assert ahead.program(other, None, 0.0) == REFUSED, "a full build compares what both compilers read"
    assert lab.asked[1:] == [(dict(other.tunables), None)]
    for thread in threading.enumerate():
        if thread.name.startswith("build ahead"):
            thread.join(WAIT_S)
            assert not thread.is_alive(), "it would hold up the end of the process"


def test_a_text_whose_program_was_not_asked_for_is_built_in_turn_from_then_on(tunable: Prepared) -> None:
    lab = NotedLab(cores=2)
    ahead = BuildsAhead(lab)
    ahead.expressions.keep(tunable.candidate.id, {})
    ahead.beside(choose(tunable, 0), lambda: lab.begun.wait(WAIT_S))  # its listing is an earlier one's: nobody asks
    for number in (1, 2):
        asked = len(lab.asked)
        lab.begun.clear()
        assert not ahead.beside(choose(tunable, number), lambda: lab.begun.wait(0.2))
        assert ahead.program(choose(tunable, number), {}, 0.0) == REFUSED and len(lab.asked) == asked + 1
    assert len(lab.asked) == 3


def test_one_core_builds_nothing_ahead_and_a_build_without_an_answer_says_so(tunable: Prepared) -> None:
    lab = NotedLab(cores=1)
    ahead = BuildsAhead(lab)
    ahead.expressions.keep(tunable.candidate.id, {})
    ahead.beside(choose(tunable, 0), lambda: None)
    assert not lab.asked
    bad = tunable.choose(next(choice for choice in tunable.choices if choice["BLOCK"] == 256))
    lab.cores = 2
    ahead.beside(bad, lambda: None)
    with pytest.raises(NoAnswer):
        ahead.program(bad, {}, 0.0)
