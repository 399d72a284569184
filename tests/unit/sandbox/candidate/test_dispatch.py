"""A file of several kernels with conditions on the dims: read whole or refused by line, written so that it is read."""

from __future__ import annotations

import pytest

from records.errors import PlanError
from sandbox.candidate.dispatch import Variant, dispatch_text, holds, is_dispatch, read_dispatch
from sandbox.candidate.parse import MAX_PLAN_BYTES, normalise, parse
from sandbox.candidate.prepare import on_common_ground, prepare
from tasks.held_out import held_out_cases
from tasks.loader import load_task

TASK = load_task("row_softmax")
SEED = TASK.seeds[0].read_text(encoding="utf-8")
TUNABLE = TASK.seeds[1].read_text(encoding="utf-8")
HEAD = '/*+++\n[[variant]]\nwhen = "cols <= 1024"\npart = "a"\n\n[[variant]]\npart = "b"\n+++*/\n'
GOOD = f"{HEAD}//+++ part a\n{SEED}//+++ part b\n{TUNABLE}"


def test_what_is_written_is_read_again() -> None:
    variants = [Variant("a", "cols <= 1024", {"ROWS": 2}), Variant("b", "rows * cols > 65536"), Variant("a")]
    text = dispatch_text(variants, {"a": TUNABLE, "b": SEED})
    assert text is not None
    table = read_dispatch(text)
    assert [(v.part, v.when, dict(v.tunables)) for v in table.variants] == [
        (v.part, v.when, dict(v.tunables)) for v in variants
    ]
    assert {name: normalise(part.source) for name, part in table.parts.items()} == {
        "a": normalise(TUNABLE),
        "b": normalise(SEED),
    }
    assert dispatch_text(table.variants, {name: part.source for name, part in table.parts.items()}) == text


def test_a_part_is_the_candidate_that_its_text_alone_is() -> None:
    """So that what is known of a kernel is known of it as an arm, and a finding's line is the file's."""
    table = read_dispatch(GOOD)
    assert parse(table.parts["a"].source).id == parse(SEED).id
    assert parse(table.parts["b"].source).id == parse(TUNABLE).id
    lines = GOOD.split("\n")
    for part in table.parts.values():
        assert lines[part.lines_before] == "/*+++"


def test_each_case_has_the_first_variant_whose_condition_holds() -> None:
    prepared = prepare(GOOD, TASK)
    assert [arm.variant.label for arm in prepared.arms] == ["cols <= 1024", "otherwise"]
    for case, plan in zip((*TASK.tests, *TASK.benchmarks), prepared.plans, strict=True):
        alone = prepare(SEED if case.dims["cols"] <= 1024 else TUNABLE, TASK)
        assert plan == alone.plan(case)
    assert holds(Variant("a", "rows * cols < 7"), {"rows": 2, "cols": 3})
    assert not holds(Variant("a", "rows * cols < 6"), {"rows": 2, "cols": 3})


def test_a_judge_of_one_kernel_refuses_the_whole() -> None:
    refusal = prepare(GOOD, TASK).refusal
    assert refusal is not None
    assert not refusal.accepted


def test_one_kernel_is_no_dispatch_whatever_stands_in_its_code() -> None:
    assert not is_dispatch(f"{SEED}\n//+++ part a\n// [[variant]]\n")
    assert not is_dispatch("// [[variant]]\n")
    assert is_dispatch(f"\ufeff\r\n{GOOD}")
    assert prepare(f"{SEED}\n//+++ part a\n", TASK).refusal is None


def test_a_part_that_would_end_another_is_not_written() -> None:
    variants = [Variant("a", "cols <= 9"), Variant("b")]
    assert dispatch_text(variants, {"a": f"{SEED}//+++ part c\n", "b": SEED}) is None
    assert dispatch_text(variants, {"a": GOOD, "b": SEED}) is None


def refused(text: str) -> tuple[str, int | None]:
    prepared = prepare(text, TASK)
    assert prepared.arms == ()
    assert prepared.refusal is not None
    (finding,) = prepared.refusal.findings
    return finding.message, finding.line


@pytest.mark.parametrize(
    ("old", "new", "expected", "line"),
    [
        ('part = "b"\n+', 'when = "cols > 1024"\npart = "b"\n+', "the last variant takes the rest", 6),
        ('when = "cols <= 1024"\n', "", "every variant but the last needs a condition", 2),
        ("cols <= 1024", "cols == 1024", "compares a dim, or a product of dims, with a number", 2),
        ("cols <= 1024", "cols % 4 < 1", "compares a dim, or a product of dims, with a number", 2),
        ("cols <= 1024", "cols // rows <= 4", "compares a dim, or a product of dims, with a number", 2),
        ("cols <= 1024", "n <= 1024", "unknown name 'n'", 2),
        ("cols <= 1024", "if <= 1024", "unknown name 'if'", 2),
        ("cols <= 1024", "cols % 1 == 0", "multiples of 2 to 512", 2),
        ("cols <= 1024", "cols % 4 == 1", "compares a dim, or a product of dims, with a number", 2),
        ("cols <= 1024", "cols <= 9 or rows <= 9", "compares a dim, or a product of dims, with a number", 2),
        ("cols <= 1024", "cols <= 0010", "cannot be read", None),
        ('part = "b"\n+', 'part = "c"\n+', "they must be the same", 1),
        ('part = "b"\n+', 'part = "a"\n+', "they must be the same", 1),
        ("//+++ part b", "//+++ part a", "two parts have the name a", 34),
        ("//+++ part a", "int x;\n//+++ part a", "nothing may stand", 9),
        ('part = "a"\n', 'part = "a"\ntunables = {ROWS = 4}\n', "no tunable 'ROWS'", None),
        ('part = "a"\n', 'part = "a"\ntunables = [4]\n', "tunables must be a table", 2),
        ('part = "a"\n', 'part = "a"\nweight = 2\n', "unknown key 'weight'", 2),
        ('part = "a"\n', "part = 1\n", "must name its part", 2),
        ("/*+++\n[[variant]]", "/*+++\nnondeterministic = true\n[[variant]]", "may hold nothing", 1),
        ('[[variant]]\npart = "b"\n', "", "there must be 2 to 8", 1),
    ],
)
def test_a_table_that_is_no_table_is_refused_by_line(old: str, new: str, expected: str, line: int | None) -> None:
    assert old in GOOD
    message, position = refused(GOOD.replace(old, new, 1))
    if expected != "the plan has":  # the first header is then no table of variants at all
        assert expected in message
    if line is not None:
        assert position == line


def test_more_variants_than_are_read_are_refused() -> None:
    rows = "".join(f'[[variant]]\nwhen = "cols <= {n}"\npart = "a"\n' for n in range(8))
    assert (
        "9 variants"
        in refused(
            GOOD.replace("/*+++\n", f"/*+++\n{rows}", 1).replace(
                '[[variant]]\nwhen = "cols <= 1024"\npart = "a"\n\n', "", 1
            )
        )[0]
    )
    assert "larger than" in refused(GOOD.replace("/*+++\n", f"/*+++\n#{'x' * MAX_PLAN_BYTES}\n", 1))[0]


def test_a_table_within_a_table_is_refused() -> None:
    assert "a part is one kernel file" in refused(f"{HEAD}//+++ part a\n{HEAD}//+++ part b\n{SEED}")[0]


def test_a_condition_without_a_value_on_a_case_is_refused() -> None:
    text = GOOD.replace("cols <= 1024", f"{' * '.join(['rows'] * 8)} <= 1024")
    assert "does not fit into 63 bits" in refused(text)[0]


def test_a_part_that_is_no_kernel_is_refused_at_its_line_of_the_file() -> None:
    broken = GOOD.replace('args = ["x", "y", "rows", "cols"]', 'args = ["x", "rows", "cols"]', 1)
    message, line = refused(broken)
    assert "no launch takes the output 'y'" in message
    assert line is not None
    assert GOOD.split("\n")[line - 1] in ("[[launch]]", "/*+++")


def test_a_dispatch_has_no_tunables_of_its_own() -> None:
    chosen = prepare(GOOD, TASK, {"ROWS": 2})
    assert chosen.arms == ()
    assert chosen.refusal is not None
    assert "no tunables of its own" in chosen.refusal.findings[0].message
    with pytest.raises(PlanError):
        read_dispatch(SEED)


QUADS = TUNABLE.replace("/*+++\n", '/*+++\nrequires = "cols % 4 == 0"\n', 1)
ROWS = '/*+++\n[[variant]]\npart = "quads"\n\n[[variant]]\npart = "rest"\n+++*/\n'
TABLE = f"{ROWS}//+++ part quads\n{QUADS}//+++ part rest\n{SEED}"


def test_an_arm_that_requires_a_condition_serves_no_other_shape() -> None:
    prepared = prepare(TABLE, TASK)
    quads, general = prepared.arms
    assert (quads.label, general.label) == ("requires cols % 4 == 0", "otherwise")
    for case in (*TASK.tests, *TASK.benchmarks):
        assert prepared.arm(case) is (quads if case.dims["cols"] % 4 == 0 else general)
    assert {case.dims["cols"] % 4 for case in (*quads.prepared.task.tests, *quads.prepared.task.benchmarks)} == {0}
    assert [case.name for case in general.prepared.task.tests] == [case.name for case in TASK.tests]


def test_shapes_on_the_thresholds_are_held_out_for_the_arm_that_serves_them() -> None:
    quads, general = prepare(TABLE, TASK).arms
    assert {dims["cols"] for dims in quads.prepared.task.edges} == {16}
    assert {dims["cols"] for dims in general.prepared.task.edges} == {15, 17}
    narrower = prepare(TABLE.replace('part = "quads"\n', 'when = "cols <= 2000"\npart = "quads"\n', 1), TASK)
    for arm in narrower.arms:
        shapes = [dims for dims in arm.prepared.task.edges]
        assert {2000 if arm is narrower.arms[0] else 2001} <= {dims["cols"] for dims in shapes}
        held_out = {case.name for case in held_out_cases(arm.prepared.task, 3)}
        assert {f"rows={dims['rows']},cols={dims['cols']}" for dims in shapes} <= held_out


def test_a_table_of_kernels_for_all_shapes_has_no_further_cases() -> None:
    assert all(arm.prepared.task is TASK for arm in prepare(GOOD, TASK).arms), "what is known of a kernel stays known"


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("cols % 4 == 0", "cols % 4 == 1", "requires: a condition compares"),
        ("cols % 4 == 0", "", "requires must be a condition"),
        ("cols % 4 == 0", "width <= 4", "unknown name 'width'"),
        ("cols % 4 == 0", "cols <= 8", "no benchmark case"),
        ("cols % 4 == 0", "rows >= 8192 and rows <= 8192 and cols >= 1024 and cols <= 1025", "unlisted shapes"),
        ('requires = "cols % 4 == 0"\n', "", "every variant but the last needs a condition"),
    ],
)
def test_a_condition_that_cannot_be_is_refused(old: str, new: str, expected: str) -> None:
    assert old in TABLE
    assert expected in refused(TABLE.replace(old, new))[0]


def test_the_last_arm_must_be_right_everywhere() -> None:
    swapped = TABLE.replace('part = "rest"\n+', 'part = "quads"\n+').replace(
        'part = "quads"\n\n', 'when = "rows <= 9"\npart = "rest"\n\n'
    )
    assert "put a kernel without `requires` last" in refused(swapped)[0]


def test_two_kernels_are_compared_on_the_cases_that_both_serve() -> None:
    quads, general = (arm.prepared for arm in prepare(TABLE, TASK).arms)
    new, old = on_common_ground(quads, general)
    assert [case.name for case in new.task.benchmarks] == [case.name for case in quads.task.benchmarks]
    assert new.task is old.task
    assert len(new.plans) == len(old.plans) == len(new.task.tests) + len(new.task.benchmarks)
    assert on_common_ground(general, general) == (general, general)
