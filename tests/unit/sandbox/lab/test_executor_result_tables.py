"""Tables that the executor and its parent both hold: where they differ, a verdict is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.candidate.resolve import ResolvedLaunch
from sandbox.lab import executor_request, executor_result, hazards, machine_lab, sentences, told_rows
from sandbox.lab.cost import counters
from sandbox.machine import image_layout

RUNTIME = Path(__file__).parents[4] / "sandbox" / "machine" / "interpreter"


def text(path: Path) -> str:
    """A C++ file without its comments."""
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


def enumerated(path: Path, name: str) -> dict[str, int]:
    """The numbers of an enumeration."""
    body = re.search(rf"enum {name} : \w+ \{{(.*?)\}}", text(path), re.DOTALL)
    assert body is not None, f"{path.name} has no enum {name}"
    numbers, following = dict[str, int](), 0
    for row in body[1].split(","):
        if row.strip():
            member, _, value = row.partition("=")
            numbers[member.strip()] = int(value) if value else following
            following = numbers[member.strip()] + 1
    return numbers


def constant(path: Path, name: str) -> int:
    """The value of a constant that is a number, or one number shifted by another."""
    match = re.search(rf"\b{name} = (~?)(0x[0-9a-f]+|\d+)u?l*(?: << (\d+))?(?=[;,])", text(path))
    assert match is not None, f"{path.name} has no {name}"
    value = ~int(match[2], 0) & (1 << 64) - 1 if match[1] else int(match[2], 0)
    return value << int(match[3] or 0)


def words(path: Path, table: str) -> list[str]:
    """The strings of a table."""
    body = re.search(rf"{table}\[\w*\] = \{{(.*?)\}};", text(path), re.DOTALL)
    assert body is not None, f"{path.name} has no table {table}"
    return re.findall(r'"(\w+)"', body[1])


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_the_executor_and_its_parent_know_the_same_kinds() -> None:
    *kinds, count = enumerated(RUNTIME / "report.h", "FindingKind")
    names = words(RUNTIME / "findings.cpp", "kNames")
    assert count == "kFindingKinds" and len(kinds) == len(names)
    for kind, name in zip(kinds, names, strict=True):
        assert name.startswith(snake(kind.removeprefix("k"))), f"{kind} is written as {name}"
    assert tuple(names) == executor_result.KINDS
    assert tuple(sentences.KINDS) == tuple(names), "each has a sentence"


ENUMERATIONS = {
    ("request.h", "Role"): {
        "kInput": executor_request.ROLES["input"],
        "kOutput": executor_request.ROLES["output"],
        "kWorkspace": executor_request.ROLES["workspace"],
        "kUpdated": executor_request.ROLES["inout"],
    },
    ("site_counts.h", "CountedAccess"): {
        "kLoad": counters.LOAD,
        "kStore": counters.STORE,
        "kAtomic": counters.ATOMIC,
        "kLdsLoad": counters.LDS_LOAD,
        "kLdsStore": counters.LDS_STORE,
        "kLdsAtomic": counters.LDS_ATOMIC,
        "kMatrix": counters.MATRIX,
        "kCollective": counters.COLLECTIVE,
    },
    ("memory_model.h", "Hazard"): {
        "kReadAfterWrite": hazards._RAW,
        "kWriteAfterRead": hazards._WAR,
        "kWriteAfterWrite": hazards._WAW,
    },
    ("memory_model.h", "Relation"): {
        "kSameInstruction": 0,  # told as of the same wave
        "kSameWave": 1 + hazards._SAME_WAVE,
        "kOtherWave": 1 + hazards._OTHER_WAVE,
        "kOtherWorkgroup": 1 + hazards._OTHER_WORKGROUP,
    },
    ("report.cpp", "Told"): {
        "kNothing": told_rows.NONE,
        "kNearBuffer": told_rows.NEAR,
        "kInLds": told_rows.LDS,
        "kNullPointer": told_rows.NULL,
        "kInImage": told_rows.IMAGE,
        "kInPrivate": told_rows.PRIVATE,
        "kInCode": told_rows.CODE,
    },
}


@pytest.mark.parametrize(("file", "name"), ENUMERATIONS)
def test_an_enumeration_has_the_same_numbers_on_both_sides(file: str, name: str) -> None:
    assert enumerated(RUNTIME / file, name) == ENUMERATIONS[file, name]


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("request.h", "kRequestMagic", machine_lab.MAGIC),
        ("request.h", "kNone64", executor_request.NONE),
        ("findings.h", "kPlaces", executor_result.MOST_PLACES),
        ("findings.h", "kMostFindings", executor_result.MOST_FINDINGS),
        ("program.h", "kCodeBase", image_layout.CODE_BASE),
        ("program.h", "kDataBase", image_layout.DATA_BASE),
        ("program.h", "kLdsBase", image_layout.LDS_BASE),
        ("program.h", "kPrivateBase", image_layout.PRIVATE_BASE),
    ],
)
def test_a_number_is_the_same_on_both_sides(file: str, name: str, value: int) -> None:
    assert constant(RUNTIME / file, name) == value


def test_all_buffers_that_are_laid_out_have_a_place() -> None:
    assert constant(RUNTIME / "memory_model.h", "kMaxRegions") >= executor_request.MAX_BUFFERS


def test_a_site_has_as_many_numbers_and_kinds_on_both_sides() -> None:
    body = re.search(r"struct SiteCounts \{(.*?)\};", text(RUNTIME / "site_counts.h"), re.DOTALL)
    assert body is not None
    fields = [name for row in re.findall(r"uint\d+_t ([^;]+);", body[1]) for name in row.split(",")]
    assert len(fields) == executor_result._SITE_NUMBERS
    kinds = enumerated(RUNTIME / "site_counts.h", "CountedAccess")
    assert len(kinds) == executor_result._SITE_KINDS == len(counters._KINDS)


def test_no_work_item_races_with_itself() -> None:
    launch = ResolvedLaunch("k", (1, 1, 1), (64, 1, 1), 0, ())
    row = {"detail": 0, "thread": [3, 0, 0], "other": [3, 0], "places": [1]}
    finding = hazards.race(row, "work-item (3,0,0)", "LDS", launch, lambda _: None)
    assert "which another work-item wrote" in finding
    assert "which work-item (4,0,0) wrote" in hazards.race({**row, "other": [4, 0]}, "", "", launch, lambda _: None)
