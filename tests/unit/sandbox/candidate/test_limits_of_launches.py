"""Launches against what the target allows and the code object says of its kernels."""

from __future__ import annotations

import pytest

from sandbox.candidate.kernel import KernelArgument, KernelMetadata
from sandbox.candidate.limits import check_arguments, check_limits
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import resolve
from sandbox.target import load_target
from tests.support.plans import PLAN, a_task, source


def kernel(name: str = "sums", **more: object) -> KernelMetadata:
    args = (
        KernelArgument(True, 0, 8),
        KernelArgument(True, 8, 8),
        KernelArgument(False, 16, 4),
        KernelArgument(False, 24, 8),
        KernelArgument(False, 32, 4),
    )
    fields: dict[str, object] = {
        "name": name,
        "symbol": f"_Z4{name}",
        "args": args,
        "vgpr": 32,
        "agpr": 0,
        "sgpr": 16,
        "lds_bytes": 0,
        "scratch_bytes": 0,
        "max_block": 1024,
    }
    return KernelMetadata(**{**fields, **more})  # type: ignore[arg-type]


FINISH = kernel("finish", args=(KernelArgument(True, 0, 8), KernelArgument(True, 8, 8), KernelArgument(False, 16, 4)))


def resolved(plan: str = PLAN, rows: int = 7):
    task = a_task(({"rows": rows, "cols": 1000},))
    return resolve(parse(source(plan)), task, task.tests[0])


@pytest.mark.parametrize(
    ("old", "new", "more", "message"),
    [
        ("64, 2, 1", "64, 17, 1", {}, "the block of finish is 64x17 = 1088 work-items; mi300x allows 1024"),
        ("64, 2, 1", "1, 1, 2048", {}, "the block of finish is 1x1x2048 = 2048 work-items"),
        (
            '"64 * ROWS"',
            "300",
            {"max_block": 256},
            "the block of sums is 300 = 300 work-items, but the kernel is "
            "compiled for "
            "at most 256; raise its __launch_bounds__",
        ),
        (
            '"64 * ROWS"',
            "300",
            {"max_grid": (1, 0, 0)},
            "the grid of sums is 2, but the kernel is compiled for at most 1 workgroups along x; leave "
            "amdgpu_max_num_work_groups out",
        ),
        ('"rows", 2]', "2147483648]", {}, "the grid of finish is 2147483648; no extent may be larger than 2147483647"),
        ('"rows", 2]', "1000000000]", {}, "grid times block of finish does not fit into 32 bits"),
        (
            '"4 * ROWS"',
            "65000",
            {"lds_bytes": 600},
            "sums needs 65600 bytes of LDS (600 static and 65000 dynamic); mi300x has 65536 per block",
        ),
    ],
)
def test_over_limit_launches_are_found(old: str, new: str, more: dict[str, object], message: str) -> None:
    findings = check_limits(resolved(PLAN.replace(old, new)), load_target("mi300x"), (kernel(**more), FINISH))
    assert [f.kind for f in findings] == ["over_limit"]
    assert findings[0].line in (2, 8)
    assert message in findings[0].message


def test_a_plan_within_limits_has_no_findings() -> None:
    assert check_limits(resolved(), load_target("mi300x"), (kernel(), FINISH)) == ()
    assert check_arguments(resolved(), (kernel(), FINISH)) == ()


ARGS = '["x", "part", "rows", "cols:i64", "eps"]'


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ('["x", "part", "rows", "cols:i64"]', "the plan passes 4 arguments to sums, but the kernel takes 5"),
        (
            '["x", "part", "rows", "cols", "eps"]',
            "argument 4 of sums: the plan passes i32 (4 bytes), but the kernel "
            "takes a "
            "value of 8 bytes; write NAME:i64 in args",
        ),
        ('["x", "part", "rows:i64", "cols:i64", "eps"]', "argument 3 of sums: the plan passes i64 (8 bytes)"),
        (
            '["x", "rows", "rows", "cols:i64", "eps"]',
            "argument 2 of sums: the plan passes the i32 value 7, but the kernel takes a pointer",
        ),
        (
            '["x", "part", "part", "cols:i64", "eps"]',
            "argument 3 of sums: the plan passes the buffer 'part', but the kernel takes a value of 4 bytes",
        ),
    ],
)
def test_arguments_are_held_against_the_code_object(args: str, message: str) -> None:
    findings = check_arguments(resolved(PLAN.replace(ARGS, args)), (kernel(), FINISH))
    assert [(f.kind, f.kernel, f.line) for f in findings] == [("over_limit", "sums", 2)]
    assert message in findings[0].message


def test_unknown_and_ambiguous_kernels_are_named() -> None:
    unknown = check_arguments(resolved(), (kernel("total"), FINISH))
    assert "'sums', but the source has no such kernel; it has: finish, total" in unknown[0].message
    assert unknown[0].line == 2
    twice = check_arguments(resolved(), (kernel(), kernel(symbol="_Z4sumsi"), FINISH))
    assert "the source has 2 kernels named 'sums'" in twice[0].message
