"""Litmus cases of the memory model: each with a twin that differs in what orders the accesses, and is quiet.

`litmus/` holds them: `== NAME | words of the finding`, then a line for each operation; see memory_script.cpp. Lines
that end in `-` stand in the faulty script only, lines that end in `+` in the twin only. The faulty script's line that
ends in `!` is the finding's, the one that ends in `?` the other access's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.unit.sandbox.machine.memory_script import play


@dataclass(frozen=True)
class Litmus:
    """A faulty script with its finding, and the twin."""

    name: str
    expected: frozenset[str]
    faulty: str
    twin: str
    line: int  # of the finding
    other: int  # of the other access, or 0


def _without(lines: list[str], dropped: str) -> list[str]:
    return [line.rstrip("+-").rstrip() for line in lines if not line.endswith(dropped)]


def _script(lines: list[str]) -> str:
    return "\n".join(line.rstrip("!? ") for line in lines) + "\n"


def _cases() -> Iterator[Litmus]:
    for path in sorted((Path(__file__).parent / "litmus").glob("*.txt")):
        for text in path.read_text(encoding="utf-8").split("== ")[1:]:
            head, *lines = text.strip().splitlines()
            name, _, words = (part.strip() for part in head.partition("|"))
            faulty, twin = _without(lines, "+"), _without(lines, "-")
            line, other = (next((n for n, line in enumerate(faulty, 1) if line.endswith(mark)), 0) for mark in "!?")
            yield Litmus(name, frozenset(words.split()), _script(faulty), _script(twin), line, other)


CASES = list(_cases())


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_fault_is_found(case: Litmus) -> None:
    words = play(case.faulty).split()
    assert case.expected <= set(words), words
    assert int(words[1]) == case.line
    assert not case.other or int(words[2]) == case.other


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.name)
def test_the_twin_is_quiet(case: Litmus) -> None:
    assert case.line
    assert play(case.twin) == ""


@pytest.mark.parametrize(("count", "expected"), [(63, "missing_wait"), (64, "")])
def test_an_access_waits_while_its_counter_is_full(count: int, expected: str) -> None:
    loads = [f"0.0 load to=v{4 + i}" for i in range(count)]
    script = "\n".join(["region 0 filled", "launch 1", "0 begins waves=1", *loads, "0.0 use v4"]) + "\n"
    assert play(script).partition(" ")[0] == expected
