"""The Python layout says what interpreter/program.h says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from sandbox.machine import image_layout as layout

HEADER = (Path(__file__).parents[4] / "sandbox" / "machine" / "interpreter" / "program.h").read_text(encoding="utf-8")
STRUCTS = {
    "Operand": layout.OPERAND.size,
    "Kernel": layout.KERNEL.size,
    "Section": layout.SECTION.size,
    "ProgramHeader": layout.HEADER.size,
    "Instruction": layout.INSTRUCTION_BYTES,
}
WIDTHS = {"uint8_t": 1, "uint16_t": 2, "uint32_t": 4, "uint64_t": 8, "int64_t": 8, "Operand": layout.OPERAND.size}


def enumerators(name: str) -> dict[str, int]:
    body = re.search(rf"enum {name} : \w+ \{{(.*?)\}};", HEADER, re.S)
    assert body
    values, following = dict[str, int](), 0
    for line in re.sub(r"//.*", "", body[1]).split(","):
        if match := re.match(r"\s*k(\w+)(?:\s*=\s*(.+))?\s*$", line):
            following = eval(match[2]) if match[2] else following
            values[match[1]] = following
            following += 1
    return values


def snake(name: str) -> str:
    return re.sub(r"(?<=[a-z])(?=[A-Z0-9])", "_", name).upper().replace("SC_", "SC")


def constant(name: str) -> int:
    match = re.search(rf"\b{name} = (0x[0-9a-f]+)(?:ull)?(?: << (\d+))?;", HEADER)
    assert match
    return int(match[1], 16) << int(match[2] or 0)


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("OperandKind", layout.OperandKind.__members__),
        ("Modifier", layout.Modifier.__members__),
        ("Flag", layout.Flag.__members__),
        ("Unit", layout.Unit.__members__),
    ],
)
def test_enumerators_are_the_same(name: str, members: dict[str, int]) -> None:
    assert {snake(key): value for key, value in enumerators(name).items()} == {k: int(v) for k, v in members.items()}


def test_scalar_indices_are_the_same() -> None:
    indices = {snake(key): value for key, value in enumerators("ScalarIndex").items()}
    assert indices.pop("SCALARS") == layout.SCC + 1
    assert indices == {name: getattr(layout, name) for name in indices}


def test_structures_have_the_same_size() -> None:
    for name, size in STRUCTS.items():
        body = re.search(rf"struct {name} \{{(.*?)\n\}};", HEADER, re.S)
        assert body
        total = 0
        for kind, names in re.findall(r"^\s*(\w+) ([\w\[\], ]+);", re.sub(r"//.*", "", body[1]), re.M):
            for field in names.split(","):
                count = re.search(r"\[(\d+)\]", field)
                total += WIDTHS[kind] * int(count[1] if count else 1)
        assert total == size, name


def test_addresses_and_magic_are_the_same() -> None:
    assert constant("kProgramMagic") == layout.MAGIC
    bases = {"kCodeBase": layout.CODE_BASE, "kDataBase": layout.DATA_BASE}
    bases |= {"kLdsBase": layout.LDS_BASE, "kPrivateBase": layout.PRIVATE_BASE}
    assert {name: constant(name) for name in bases} == bases
