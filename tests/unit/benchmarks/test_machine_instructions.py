"""What is timed: instructions that the machine knows, on registers that are all given."""

from __future__ import annotations

import re

import pytest

from benchmarks.machine_instructions import ANCHOR, CLASSES, STATES, VECTORS, figures, states
from sandbox.machine.decoded_program import decode_listing


@pytest.mark.parametrize("text", CLASSES.values())
def test_each_class_is_decoded_and_reads_registers_that_are_set(text: str) -> None:
    program = decode_listing(f"\t{text}\n")
    assert len(program.instructions) == text.count("\n") + 1
    registers = [
        int(number) for word in re.findall(r"\bv(?:\d+|\[\d+:\d+\])", text) for number in re.findall(r"\d+", word)
    ]
    assert max(registers, default=0) < VECTORS


def test_states_hold_every_register() -> None:
    codes = VECTORS + 12
    assert len(states()) == 8 * (3 + codes + 1) + STATES * (VECTORS * 512 + 12 * 8)


def test_times_stand_beside_the_plain_addition() -> None:
    (figure,) = figures({ANCHOR: 20.0, "64-bit address": 50.0})
    assert (figure.figure, figure.ratio) == ("machine_instructions.64_bit_address", 2.5)
