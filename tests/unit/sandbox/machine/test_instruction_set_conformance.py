"""The list of instructions and their tests names every row of the table once, and the document has its counts."""

from __future__ import annotations

from sandbox.machine.instruction_set import instruction_table
from tests.unit.sandbox.machine.conformance import (
    DOCUMENT,
    END,
    KERNELS,
    NAMES,
    NONE,
    ORACLES,
    OTHERS,
    SHARED,
    START,
    grouped,
    groups_in,
    names_of,
    page,
)


def test_the_list_names_every_instruction_once_and_the_document_has_its_counts() -> None:
    by = groups_in(NAMES.read_text(encoding="utf-8"))
    assert sorted(name for names in by.values() for name in names) == sorted(instruction_table())
    text = DOCUMENT.read_text(encoding="utf-8")
    assert text[text.index(START) + len(START) : text.index(END)] == page(by)


def test_an_instruction_stands_under_its_first_test_or_its_function() -> None:
    by = grouped({"test_matrix": {"v_mfma_f32_4x4x4_16b_f16"}}, {"s_waitcnt"})
    assert list(by) == [*ORACLES, *OTHERS]
    assert by["test_matrix"] == ["v_mfma_f32_4x4x4_16b_f16"]
    assert "v_mfma_f32_4x4x4f16" in by[SHARED] and by[KERNELS] == ["s_waitcnt"] and "v_add_f32" in by[NONE]
    assert groups_in(names_of(by)) == by
