"""The answers of the bench's tools: bounded, without a path, and silent on what held-out cases hold."""

from __future__ import annotations

from dataclasses import replace

from agents.bench import BenchKernel, Checked
from agents.scientist.observations import MOST_CHARS, MOST_LINES, bounded, checked_text, compared_text, loops_text
from records.evaluation import CaseResult, Evaluation, Finding, HotLine, Verdict
from records.machine_code import InnerLoop, MachineLine
from tasks.loader import load_task
from tests.support.scripted_scientist import seed
from tests.support.specimens import compiled, specimen

TASK = load_task("row_softmax")
PARENT = BenchKernel("g000-e0-a0", seed("row_softmax"), specimen(TASK, seed("row_softmax")).evaluation)


def tried(evaluation: Evaluation, status: str = "rejected") -> str:
    made = Checked(BenchKernel("g001-e1-a0", seed("row_softmax"), evaluation, status == "tried"), status)  # type: ignore[arg-type]
    return bounded("check", checked_text(made, PARENT, TASK, 3))


def wrong(case: str, role: str) -> Evaluation:
    message = "element 4711 of y is 0.25 instead of 1.5e-3; the row has 433 columns"
    finding = Finding("wrong_result", message, 12, "row_softmax", case, "y")
    row = CaseResult(case, role, False, 9.5, message=message)  # type: ignore[arg-type]
    return replace(compiled(), verdict=Verdict("correct", False, "C.1", (finding,)), cases=(row,))


def test_a_finding_on_a_listed_case_is_told_whole() -> None:
    told = tried(wrong("rows=7,cols=1000", "test"))
    for piece in ("case rows=7,cols=1000", "element 4711 of y is 0.25", "at line 12 in row_softmax", "buffer y"):
        assert piece in told, piece


def test_of_a_held_out_case_neither_shape_nor_value_is_told() -> None:
    told = tried(wrong("rows=136,cols=433", "held_out"))
    assert "at line 12 in row_softmax, case a held-out one" in told
    assert not [number for number in ("136", "433", "4711", "0.25", "1.5e-3") if number in told]
    told = tried(wrong("rows=7,cols=1000 [shifted]", "held_out"))
    assert "4711" not in told
    assert "shifted" not in told


def test_a_try_stands_beside_its_parent() -> None:
    told = tried(replace(specimen(TASK, "x").evaluation, resources=compiled().resources), "tried")
    assert "Kernel `k`: 128 VGPR" in told
    assert "64 B scratch" in told
    assert "The parent, geometric mean 10" in told
    assert "Kernel `k`: 64 VGPR" in told
    assert told.endswith("3 tries left.")


def test_the_costliest_lines_are_quoted_with_their_text() -> None:
    line = next(n for n, text in enumerate(seed("row_softmax").split("\n"), 1) if "sum +=" in text)
    hot = HotLine(line, "row_softmax", {"l2_requests": 900.0}, {"l2_requests": 0.75})
    assert f"line {line} of `row_softmax`: `" in tried(replace(PARENT.evaluation, hot_lines=(hot,)), "tried")


def test_every_answer_has_a_bound_and_says_what_was_cut() -> None:
    findings = tuple(Finding("race", "x" * 5_000, n) for n in range(8))
    told = tried(replace(compiled(), verdict=Verdict("execute", False, "C.1", findings)))
    assert len(told) <= MOST_CHARS["check"] + 60
    assert "cut here" in told
    for tool, most in MOST_CHARS.items():
        assert len(bounded(tool, "a line\n" * 10_000)) <= most + 60
    assert len(bounded("unknown", "y" * 10_000)) <= 1_060


def test_a_comparison_names_what_differs() -> None:
    other = replace(PARENT.evaluation, counters={"SQ_LDS_BANK_CONFLICT": 10.0, "same": 5.0})
    old = replace(PARENT.evaluation, counters={"SQ_LDS_BANK_CONFLICT": 1234.0, "same": 5.0})
    told = compared_text(replace(PARENT, evaluation=old), BenchKernel("a1", "x", other), TASK)
    assert "SQ_LDS_BANK_CONFLICT 1234 to 10" in told
    assert "same" not in told.split("Counters that differ")[1]


def test_a_tie_by_the_model_s_error_is_told_as_one() -> None:
    def timed(factor: float, error: float) -> Evaluation:
        rows = tuple(replace(m, time_us=factor * m.time_us, error=error) for m in PARENT.evaluation.measurements)
        return replace(PARENT.evaluation, measurements=rows)

    for error, is_tie in ((0.08, True), (0.04, False), (0.0, False)):
        other = BenchKernel("a1", "x", timed(0.95, error))
        told = compared_text(replace(PARENT, evaluation=timed(1.0, error)), other, TASK)
        assert ("The two are equal within the clock's error of 8 %." in told) is is_tie
        assert ("+5.3 (equal)" in told) is is_tie
        assert (f"Times within {100 * error:.2g} % of each other are equal" in told) is bool(error)


def test_an_expected_time_is_told_with_its_bound_and_where_it_goes() -> None:
    made = PARENT.evaluation
    more = {"warm_us": 90.0, "bound_us": 40.0, "stalls_us": {"barrier": 5.0, "vmcnt": 60.0}}
    known = replace(made, measurements=tuple(replace(m, **more) for m in made.measurements))
    case = made.measurements[0].case
    assert f"- {case}: warm 90, bound 40; vmcnt 60, barrier 5" in tried(known, "tried")
    assert "expected time" not in tried(made, "tried")


def test_a_loop_is_shown_with_its_lines_and_within_a_bound() -> None:
    rows = (
        MachineLine("s_waitcnt vmcnt(0)", "waitcnt", 1),
        MachineLine("v_mfma_f32_16x16x16_f16", "mfma", 2, 16),
        *(MachineLine(f"ds_read_b128 v[{n}:3]", "lds", 2) for n in range(2 * MOST_LINES)),
    )
    loop = InnerLoop("k", 2, 400, 900, rows)
    told = loops_text("g001-e1-a0", [loop], "first line\nsecond line\n")
    assert "900 instructions; the inner loop, depth 2, 400 instructions: 240 lds, 16 mfma, 1 waitcnt" in told
    assert "1 | first line\n    s_waitcnt vmcnt(0)\n2 | second line\n    v_mfma_f32_16x16x16_f16 x16\n" in told
    assert told.count("second line") == 1
    assert f"and {2 + MOST_LINES} more lines" in told
    assert "no loop, the whole kernel" in loops_text("a0", [replace(loop, depth=0)], "")
