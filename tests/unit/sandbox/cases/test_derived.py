"""Both judges draw from one place, and no two candidates have the same sweep."""

from __future__ import annotations

import pytest

from sandbox.candidate.prepare import prepare
from sandbox.cases.derived import candidate_secret, derived_cases, numbers_in, plan_shapes, sweep_of
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import SweptCase
from tasks.loader import load_task

TASK = load_task("row_softmax")
SOURCE = TASK.seeds[0].read_text(encoding="utf-8")


def swept(source: str, secret: int) -> list[SweptCase]:
    prepared = prepare(source, TASK)
    return list(sweep_of(prepared, candidate_secret(prepared, secret), InputFamilies(TASK)).cases(0, 100))


def test_each_candidate_and_each_process_has_a_sweep_of_its_own() -> None:
    assert swept(SOURCE, 7) == swept(SOURCE, 7)
    mine, other_process, other_source = swept(SOURCE, 7), swept(SOURCE, 8), swept(SOURCE + "// more\n", 7)
    seeds = [{member.case.seed for member in cases} for cases in (mine, other_process, other_source)]
    assert not seeds[0] & seeds[1] and not seeds[0] & seeds[2] and not seeds[1] & seeds[2]


def test_tunables_are_part_of_the_secret() -> None:
    tuned = load_task("row_softmax").seeds[1].read_text(encoding="utf-8")
    prepared = prepare(tuned, TASK)
    other = next(choice for choice in prepared.choices if dict(choice) != dict(prepared.tunables))
    assert candidate_secret(prepared, 7) != candidate_secret(prepared.choose(other), 7)


def test_a_secret_says_nothing_of_the_one_it_comes_from() -> None:
    prepared = prepare(SOURCE, TASK)
    secrets = {candidate_secret(prepared, secret) for secret in range(64)}
    assert len(secrets) == 64 and all(1 << 80 < derived < 1 << 128 for derived in secrets)


def test_no_shape_is_derived_twice() -> None:
    prepared = prepare(SOURCE, TASK)
    cases = derived_cases(prepared, 3, (*TASK.tests, *TASK.benchmarks))
    assert len({case.name for case in cases}) == len(cases)
    assert {case.name for case in plan_shapes(prepared, 3)} <= {case.name for case in cases}


@pytest.mark.parametrize(
    ("text", "number"), [("n == 7777", 7777), ("n < 0x1F41u", 0x1F41), ("n % 4096UL", 4096), ("if (n>30011)", 30011)]
)
def test_whole_numbers_of_the_text_are_found(text: str, number: int) -> None:
    assert number in numbers_in(prepare(f"{SOURCE}// {text}\n", TASK))


@pytest.mark.parametrize("text", ["1.5f", "x7777", "7777.0f"])
def test_parts_of_names_and_fractions_are_none(text: str) -> None:
    assert 7777 not in numbers_in(prepare(f"{SOURCE}// {text}\n", TASK))
