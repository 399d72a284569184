"""Tables that the executor and its parent both hold: where they differ, a verdict is wrong."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.candidate.resolve import ResolvedLaunch
from sandbox.lab import executor_request, executor_result, hazards, sentences
from sandbox.lab.cost import counters, matrix_cores
from sandbox.lab.lab_program import LdsVariable

ROOT = Path(__file__).parents[4] / "sandbox"
RUNTIME = ROOT / "lab" / "runtime"
CALLS = ROOT / "include" / "ks_lab" / "calls.h"


def text(path: Path) -> str:
    """A C++ file without its comments."""
    return re.sub(r"//.*", "", path.read_text(encoding="utf-8"))


def enumerated(path: Path, name: str) -> list[str]:
    """The names of an enumeration whose values count from 0."""
    body = re.search(rf"enum {name} : \w+ \{{(.*?)\}}", text(path), re.DOTALL)
    assert body is not None, f"{path.name} has no enum {name}"
    rows = [row.split("=") for row in body[1].split(",") if row.strip()]
    assert all(int(row[1]) == place for place, row in enumerate(rows) if len(row) > 1)
    return [row[0].strip() for row in rows]


def constant(path: Path, name: str) -> int:
    """The value of a constant that is a number, or one number shifted by another."""
    found = re.search(rf"\b{name} = (0x[0-9a-f]+|~?\d+)u?l*(?: << (\d+))?\b", text(path))
    assert found is not None, f"{path.name} has no {name}"
    value = ~int(found[1][1:]) & (1 << 64) - 1 if found[1].startswith("~") else int(found[1], 0)
    return value << int(found[2] or 0)


def words(path: Path, table: str) -> list[str]:
    """The strings of a table."""
    body = re.search(rf"{table}\[\w*\] = \{{(.*?)\}};", text(path), re.DOTALL)
    assert body is not None, f"{path.name} has no table {table}"
    return re.findall(r'"(\w+)"', body[1])


def snake(name: str) -> str:
    return re.sub(r"(?<!^)(?=[A-Z])", "_", name).lower()


def test_the_executor_and_its_parent_know_the_same_kinds() -> None:
    *kinds, count = enumerated(RUNTIME / "finding.h", "Kind")
    names = words(RUNTIME / "finding.cpp", "kNames")
    assert count == "kKinds" and len(kinds) == len(names)
    for kind, name in zip(kinds, names, strict=True):
        assert name.startswith(snake(kind.removeprefix("k"))), f"{kind} is written as {name}"
    assert tuple(names) == executor_result.KINDS
    assert sentences.KINDS.keys() == set(names), "each has a sentence"


ENUMERATIONS = {
    ("request.h", "Role"): {
        "kInput": executor_request.ROLES["input"],
        "kOutput": executor_request.ROLES["output"],
        "kWorkspace": executor_request.ROLES["workspace"],
        "kUpdated": executor_request.ROLES["inout"],
    },
    ("trace.h", "Access"): {
        "kLoad": counters.LOAD,
        "kStore": counters.STORE,
        "kAtomic": counters.ATOMIC,
        "kLdsLoad": counters.LDS_LOAD,
        "kLdsStore": counters.LDS_STORE,
        "kLdsAtomic": counters.LDS_ATOMIC,
        "kMatrix": counters.MATRIX,
        "kCollective": counters.COLLECTIVE,
    },
    ("shadow.h", "Hazard"): {
        "kReadAfterWrite": hazards._RAW,
        "kWriteAfterRead": hazards._WAR,
        "kWriteAfterWrite": hazards._WAW,
    },
    ("shadow.h", "Relation"): {
        "kSameWave": hazards._SAME_WAVE,
        "kOtherWave": hazards._OTHER_WAVE,
        "kOtherWorkgroup": hazards._OTHER_WORKGROUP,
    },
    ("memory.h", "Space"): {
        "kSpaceNone": sentences._NONE,
        "kSpaceNear": sentences._NEAR,
        "kSpaceLds": sentences._LDS,
        "kSpaceNull": sentences._NULL,
        "kSpaceImage": sentences._IMAGE,
        "kSpacePrivate": sentences._PRIVATE,
        "kSpaceOwn": sentences._OWN,
        "kSpaceOtherLds": sentences._OTHER_LDS,
        "kSpaceVector": sentences._VECTOR,
        "kSpacePrivateOther": sentences._OTHERS_PRIVATE,
        "kSpaceCode": sentences._CODE,
    },
}


@pytest.mark.parametrize(("file", "name"), ENUMERATIONS)
def test_an_enumeration_has_the_same_numbers_on_both_sides(file: str, name: str) -> None:
    in_runtime = {each: number for number, each in enumerate(enumerated(RUNTIME / file, name))}
    assert in_runtime == ENUMERATIONS[file, name]


def test_element_types_and_wave_operations_have_the_same_order_on_both_sides() -> None:
    types = [name.removeprefix("KS_").lower() for name in enumerated(CALLS, "KsType")]
    assert tuple(types) == matrix_cores._TYPES
    operations = enumerated(CALLS, "KsWaveOp")
    through_lds = [operations.index(f"KS_{name}") for name in ("BPERMUTE", "PERMUTE", "SWIZZLE")]
    assert tuple(through_lds) == counters._LDS_OPERATIONS


@pytest.mark.parametrize(
    ("file", "name", "value"),
    [
        ("request.h", "kMagic", executor_request.MAGIC),
        ("request.h", "kGranule", executor_request.GRANULE),
        ("request.h", "kNone", executor_request.NONE),
        ("memory.h", "kMaxRegions", executor_request.MAX_BUFFERS),
        ("finding.h", "kPlaces", executor_result.MOST_PLACES),
        ("finding.h", "kFindings", executor_result.MOST_FINDINGS),
        ("fibre.h", "kApartGuard", executor_request.WORKER_GUARD_BYTES),
    ],
)
def test_a_number_is_the_same_on_both_sides(file: str, name: str, value: int) -> None:
    assert constant(RUNTIME / file, name) == value


def test_the_stacks_of_a_work_item_fit_the_room_that_is_asked_for() -> None:
    parts = [constant(RUNTIME / "fibre.h", name) for name in ("kStackBytes", "kGuardBytes", "kApartBytes")]
    assert sum(parts) == executor_request.LANE_STACK_BYTES


def test_a_site_has_as_many_numbers_and_kinds_on_both_sides() -> None:
    body = re.search(r"struct SiteCounts \{(.*?)\};", text(RUNTIME / "trace.h"), re.DOTALL)
    assert body is not None
    fields = [name for row in re.findall(r"uint\d+_t ([^;]+);", body[1]) for name in row.split(",")]
    assert len(fields) == executor_result._SITE_NUMBERS
    assert len(enumerated(RUNTIME / "trace.h", "Access")) == executor_result._SITE_KINDS == len(counters._KINDS)


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("kept", "kept"),
        ("buf1x", "buf1x"),
        ("_ZL5table", "table"),
        ("_ZN3ops5storeE", "store"),
        ("_ZZ4tileILi64EEvPKfPfE5tileA", "tileA"),
        ("_ZZ6reduceILi10EEvPKfPfimmE10kept_lanes", "kept_lanes"),
        ("_ZZN3ops4normIfLi256EEEvPKT_PS1_iE6shared_0", "shared"),
    ],
)
def test_a_variable_has_the_name_of_the_source(symbol: str, name: str) -> None:
    assert sentences._short(LdsVariable(symbol, 0, 4)) == name


def test_no_work_item_races_with_itself() -> None:
    launch = ResolvedLaunch("k", (1, 1, 1), (64, 1, 1), 0, ())
    row = {"detail": 0, "thread": [3, 0, 0], "other": [3, 0], "places": [1]}
    said = hazards.race(row, "work-item (3,0,0)", "LDS", launch, lambda _: None)
    assert "which another work-item wrote" in said
    assert "which work-item (4,0,0) wrote" in hazards.race({**row, "other": [4, 0]}, "", "", launch, lambda _: None)
