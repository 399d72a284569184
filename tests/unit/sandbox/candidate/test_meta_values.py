from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from records.errors import PlanError
from sandbox.candidate.fit import check
from sandbox.candidate.meta_values import ResolvedMeta, TypeValue
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import ResolvedLaunch, resolve
from tests.support.plans import a_task

BODY = '"""\n\nimport triton\n'


def text(launch: str, more: str = "") -> str:
    head = '"""/*+++\n[[launch]]\nkernel = "k"\ngrid = ["rows"]\nargs = ["x", "y", "rows", "cols", "eps"]\n'
    return f"{head}{launch}\n{more}\n+++*/{BODY}"


def resolved(launch: str, more: str = "") -> ResolvedLaunch:
    task, candidate = a_task(), parse(text(launch, more))
    check(candidate, task)
    return resolve(candidate, task, task.tests[0]).launches[0]


def meta(launch: str, more: str = "") -> ResolvedMeta:
    meta_values = resolved(launch, more).meta
    assert meta_values is not None
    return meta_values


@pytest.mark.parametrize(
    ("literal", "value"),
    [
        ("128", 128),
        ("true", True),
        ("1.5", 1.5),
        ('"BLOCK"', 64),
        ('"1 << log2(2 * cols - 1)"', 1024),
        ('"cols % 8 == 0"', True),
        ('"cols % 16 == 0 and rows > 1"', False),
        ('"not rows"', False),
        ('"eps"', 1e-6),
        ('"1 / sqrt(4)"', 0.5),
        ("\"'gelu'\"", "gelu"),
        ('"tl.bfloat16"', TypeValue("bfloat16")),
        ('"tl.float8e4b8"', TypeValue("float8e4b8")),
        ('"None"', None),
        ('"False"', False),
    ],
)
def test_a_constant_is_a_number_a_truth_value_a_text_or_a_type(literal: str, value: Any) -> None:
    (constant,) = meta(f"constants = {{NAME = {literal}}}", "[tunables]\nBLOCK = [64, 128]").constants
    assert constant == ("NAME", value) and type(constant[1]) is type(value)


def test_options_have_the_compilers_own_values_unless_the_plan_gives_them() -> None:
    assert dict(meta("").options) == {
        "num_warps": 4,
        "num_stages": 2,
        "waves_per_eu": 0,
        "matrix_instr_nonkdim": 0,
        "kpack": 1,
    }
    launch = resolved('num_warps = "WARPS"\nnum_stages = 1', "[tunables]\nWARPS = [8, 4]")
    assert launch.meta is not None
    assert dict(launch.meta.options) | {"num_warps": 8, "num_stages": 1} == dict(launch.meta.options)
    assert launch.block == (512, 1, 1)


@pytest.mark.parametrize(
    ("literal", "numbers"), [("", ()), ('specialise = ["cols"]', (3,)), ("specialise = true", (2, 3))]
)
def test_only_named_whole_numbers_choose_the_code(literal: str, numbers: tuple[int, ...]) -> None:
    assert meta(literal).specialised == numbers


@pytest.mark.parametrize(
    ("launch", "expected"),
    [
        ("block = [64]", "launch 1: leave block out; a workgroup has 64 \\* num_warps work-items"),
        ("lds = 4", "launch 1: leave lds out"),
        ('symbol = {m = "x"}', "launch 1: leave symbol out"),
        ("num_warp = 4", "unknown key 'num_warp'"),
        ("num_warps = 3", "num_warps is 3; it must be a power of two"),
        ("num_warps = true", "num_warps must be a whole number"),
        ("num_stages = -1", "num_stages is -1; it must be a small whole number"),
        ("constants = 4", "constants must be a table"),
        ('constants = {"a b" = 4}', "which cannot be a parameter"),
        ("constants = {A = [1]}", "the constant A is"),
        ('constants = {A = "x"}', "constants names 'x', which is no dim"),
        ('constants = {A = "nothing"}', "constants names 'nothing', which is no dim"),
        ('num_stages = "STAGES"', "num_stages names 'STAGES', which is no dim"),
        ('specialise = ["eps"]', "specialise names 'eps', which stands in args for no whole number"),
        ("specialise = 3", "specialise lists arguments"),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(launch: str, expected: str) -> None:
    with pytest.raises(PlanError, match=expected):
        resolved(launch)


def test_meta_parameters_are_triton_s_alone() -> None:
    hip = '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = []\nnum_warps = 4\n+++*/\nint x;\n'
    with pytest.raises(PlanError, match="unknown key 'num_warps'"):
        parse(hip)
    with pytest.raises(PlanError, match="kernel must be the plain name"):
        parse(text("").replace('"k"', '"k<float>"'))
    assembly = (
        '/*+++\n[[launch]]\nkernel = "k"\ngrid = [1]\nblock = [64]\nargs = []\nsymbol = {m = [1]}\n+++*/\n.text\n'
    )
    with pytest.raises(PlanError, match="symbol is for HIP sources"):
        parse(assembly)


def test_a_plan_with_meta_parameters_is_another_plan() -> None:
    plain, other = parse(text("")).plan.launches[0], parse(text("num_warps = 8")).plan.launches[0]
    assert plain != other and replace(other, meta=plain.meta, block=plain.block) == plain
    assert a_task().folder == Path()
