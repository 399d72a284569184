"""The document of instructions and their tests names every row of the table once."""

from __future__ import annotations

import re

from sandbox.machine.instruction_set import instruction_table
from tests.unit.sandbox.machine.conformance import DOCUMENT, END, ORACLES, START, lists


def test_the_document_names_every_instruction_once() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    part = text[text.index(START) : text.index(END)]
    names = [name for line in part.splitlines() if "): " in line or line.startswith("- ") for name in names_of(line)]
    assert sorted(names) == sorted(instruction_table())


def test_an_instruction_stands_under_its_first_test_or_its_function() -> None:
    texts = lists({"test_matrix": {"v_mfma_f32_4x4x4_16b_f16"}}, {"s_waitcnt"})
    of = {line.split("`")[1]: line for line in texts.splitlines() if line.startswith("**`")}
    assert set(of) == set(ORACLES)
    assert names_of(of["test_matrix"]) == ["v_mfma_f32_4x4x4_16b_f16"]
    shared = texts.partition("another name")[2]
    assert shared.index("v_mfma_f32_4x4x4f16") < shared.index("s_waitcnt") < shared.index("v_add_f32")


def names_of(line: str) -> list[str]:
    return re.findall(r"`(\w+)`", line.rpartition("): ")[2] if "): " in line else line)
