from __future__ import annotations

from typing import Any

import pytest

from records.errors import PlanError
from sandbox.candidate.meta_values import ResolvedMeta, TypeValue
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import BufferArg, NullArg, ResolvedLaunch, ScalarArg, StructArg, resolve
from sandbox.guests.triton_job import TYPES, buffers_of, job_of
from tasks.dtypes import NUMPY
from tests.support.plans import a_task
from tests.support.triton_kernels import SCALED

BUFFERS = {"x": ("f32", 4096), "y": ("e4m3fnuz", 64), "z": ("bf16", 1 << 31)}


def launch(*args: Any, specialised: tuple[int, ...] = ()) -> ResolvedLaunch:
    meta = ResolvedMeta((("BLOCK", 64), ("OUT", TypeValue("float16"))), (("num_warps", 4),), specialised)
    return ResolvedLaunch("k", (1, 1, 1), (256, 1, 1), 0, args, 3, meta=meta)


@pytest.mark.parametrize(
    ("argument", "expected"),
    [
        (BufferArg("x"), ("*fp32", "DS")),
        (BufferArg("x", 16), ("*fp32", "DS")),
        (BufferArg("x", 4), ("*fp32", "S")),
        (BufferArg("y"), ("*fp8e4b8", "DS")),
        (BufferArg("z"), ("*bf16", "D")),
        (NullArg(), ("none", "")),
        (ScalarArg("i32", 16), ("i32", "")),
        (ScalarArg("i64", 5), ("i64", "")),
        (ScalarArg("f32", 16.0), ("fp32", "")),
        (ScalarArg("bool", 1), ("u1", "")),
    ],
)
def test_an_argument_gets_the_type_and_the_hints_of_triton_s_own_launch(
    argument: Any, expected: tuple[str, str]
) -> None:
    assert job_of(launch(argument), BUFFERS).arguments == (expected,)


@pytest.mark.parametrize(
    ("value", "expected"), [(1, ("one", "")), (16, ("i32", "D")), (17, ("i32", "")), (0, ("i32", "D"))]
)
def test_a_named_whole_number_chooses_the_code_as_triton_has_it(value: int, expected: tuple[str, str]) -> None:
    assert job_of(launch(ScalarArg("i32", value), specialised=(0,)), BUFFERS).arguments == (expected,)
    assert job_of(launch(ScalarArg("f32", value), specialised=(0,)), BUFFERS).arguments == (("fp32", ""),)


def test_cases_share_a_job_unless_something_that_chooses_the_code_differs() -> None:
    jobs = {job_of(launch(BufferArg("x"), ScalarArg("i32", n)), BUFFERS) for n in range(5)}
    assert len(jobs) == 1
    with_hints = {job_of(launch(BufferArg("x"), ScalarArg("i32", n), specialised=(1,)), BUFFERS) for n in range(40)}
    assert len(with_hints) == 3


def test_a_struct_is_refused() -> None:
    with pytest.raises(PlanError, match="argument 1 of k is a struct") as caught:
        job_of(launch(StructArg((), 8)), BUFFERS)
    assert caught.value.line == 3


def test_the_request_holds_plain_values() -> None:
    request = job_of(launch(BufferArg("x")), BUFFERS).request("gfx942")
    assert request["constants"] == {"BLOCK": 64, "OUT": {"type": "float16"}}
    assert (request["arch"], request["kernel"], request["options"]) == ("gfx942", "k", {"num_warps": 4})


def test_every_element_type_has_one_of_triton_s() -> None:
    assert TYPES.keys() == NUMPY.keys()


def test_buffers_are_the_task_s_and_the_plan_s() -> None:
    task, text = a_task(), SCALED.replace("[tunables]", '[workspace]\npart = ["f16", "rows", 3]\n[tunables]')
    plan = resolve(parse(text), task, task.tests[0])
    assert buffers_of(task, task.tests[0], plan) == {"x": ("f32", 28000), "y": ("f32", 28), "part": ("f16", 42)}
