"""Each kind of error is planted once, at a drawn place."""

from __future__ import annotations

import random

import pytest

from benchmarks.planted_errors import HOSTS, KINDS, planted
from sandbox.candidate.prepare import prepare
from tasks.loader import load_task


@pytest.mark.parametrize("name", list(HOSTS))
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_is_planted_in_each_host_at_one_place(name: str, kind: str) -> None:
    task = load_task(name, "mi300x")
    source = planted(name, kind, random.Random(3))
    wrong, skipped = (line.split(" ", 2)[2] for line in source.splitlines() if line.startswith("#define "))
    assert prepare(source, task).refusal is None
    assert (wrong == "(false)") == (kind == "one strip") and (skipped == "(false)") == (kind != "one strip")
    body = source.split("#define SKIPPED", 1)[1].split("\n", 1)[1]
    assert "SKIPPED" in body and "WRONG" in body
    assert ("calls++" in body) == (kind == "one call in n")


def test_places_are_drawn() -> None:
    rng = random.Random(3)
    assert len({planted("transpose", "one workgroup", rng) for _ in range(8)}) == 8
