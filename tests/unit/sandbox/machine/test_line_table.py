"""What is known of the lines that a workgroup touches, beside a dictionary of Python's."""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

import pytest

from sandbox.process import ProcessLimits, run
from tests.support.compiler_cache import COMPILED
from tests.support.interpreter_program import interpreter_program

DRIVER = Path(__file__).with_name("line_table.cpp")
LIMITS = ProcessLimits(cpu_s=60, file_bytes=1 << 30)
MOST = 3 << 17  # lines of a full table
REGION = 1 << 48  # between the lines of two buffers
Operation = tuple[str, int]


def play(operations: Iterable[Operation]) -> str:
    """What the table answers: whether a line is new, or how often it was counted."""
    script = "\n".join(f"{verb} {line}" for verb, line in operations).encode()
    program = interpreter_program(DRIVER, (), "-O1")
    completed = run(
        [str(program)], cwd=COMPILED, env={}, limits=LIMITS, timeout_s=60.0, stdin=script, output_cap=1 << 20
    )
    assert completed.returncode == 0, completed.stderr
    return completed.stdout


def answers(operations: Iterable[Operation]) -> str:
    """The same of a dictionary."""
    counts, digits = dict[int, int](), ""
    for verb, line in operations:
        if verb == "n":
            digits += str(int(line not in counts))
            counts.setdefault(line, 0)
        elif verb == "f":
            digits += str(counts.get(line, 0) % 10)
        elif verb == "c":
            counts[line] = counts.get(line, 0) + 1
        else:
            counts.clear()
    return digits


@pytest.mark.parametrize("emptied", ["e", "g"])  # its memory is kept, or given back
def test_it_keeps_its_lines_while_it_grows_and_is_emptied_again_and_again(emptied: str) -> None:
    rng = random.Random(7)
    operations: list[Operation] = [("f", 1)]
    for lines in (40, 3000, 40, 1500):
        drawn = [rng.randrange(3) * REGION + rng.randrange(lines) for _ in range(4 * lines)]
        operations += [(rng.choice("ncf"), line) for line in drawn]
        operations += [(emptied, 0)]
    assert play(operations) == answers(operations)


def test_a_full_table_takes_every_further_line_for_new_and_still_knows_the_others() -> None:
    filled = [("n", line) for line in range(MOST)]
    digits = play([*filled, ("n", MOST), ("n", MOST), ("c", MOST), ("f", MOST), ("n", 5), ("c", 6), ("f", 6)])
    assert digits == "1" * MOST + "110" + "01"
