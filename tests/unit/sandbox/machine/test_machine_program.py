from __future__ import annotations

from sandbox.machine.machine_program import InstructionLines

KERNEL, CALLED = ("candidate.hip", 9), (("candidate.hip", 3), ("candidate.hip", 9))


def test_what_has_no_line_has_that_of_its_function_and_not_of_one_it_calls() -> None:
    merged, inside = ("candidate.hip", 0), (("candidate.hip", 0), ("candidate.hip", 9))
    lines = InstructionLines(((KERNEL,), CALLED, (merged,), inside), ("", "", "", ""), "candidate.hip")
    assert lines.line(2) == 3 and lines.caller_line(2) == 9
    assert lines.line(3) is None and lines.line_before(3) == 9
    assert lines.line(4) == 9 and lines.line_before(4) == 3
    assert InstructionLines((CALLED, (("std", 0),)), ("", ""), "candidate.hip").line_before(2) == 9
    assert InstructionLines(((("a.h", 2),), (merged,)), ("", ""), "candidate.hip").line_before(2) is None
