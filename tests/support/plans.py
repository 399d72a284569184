"""A launch plan with everything a plan can have, and a task that it fits."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from tasks.task import Case, ScalarSpec, Task, TensorSpec
from tasks.tolerance import Tolerance

PLAN = """\
[[launch]]
kernel = "sums"
grid   = ["ceil_div(rows, ROWS)"]
block  = ["64 * ROWS"]
lds    = "4 * ROWS"
args   = ["x", "part", "rows", "cols:i64", "eps"]
[[launch]]
kernel = "finish"
grid   = ["rows", 2]
block  = [64, 2, 1]
args   = ["part", "y", "ROWS"]

[workspace]
part = ["f32", "rows", 4]
[tunables]
ROWS = [4, 1, 2, 8]
[constraints]
fits = "ROWS * cols * 4 <= 65536"
"""


BODY = "#include <hip/hip_runtime.h>\n"


def nothing(*_: object) -> dict[str, object]:
    return {}


def a_task(tests: tuple[Mapping[str, int], ...] = ({"rows": 7, "cols": 1000},), **more: object) -> Task:
    cases = tuple(Case(",".join(f"{k}={v}" for k, v in dims.items()), dims, 1) for dims in tests)
    fields: dict[str, object] = {
        "name": "demo",
        "title": "",
        "description": "",
        "targets": ("mi300x",),
        "inputs": (TensorSpec("x", "f32", ("rows", "cols")),),
        "outputs": (TensorSpec("y", "f32", ("rows",)),),
        "scalars": (ScalarSpec("eps", "f32", 1e-6),),
        "tests": cases,
        "benchmarks": (),
        "flops": "rows",
        "bytes_moved": "rows",
        "peak": "fp32_vector",
        "tolerance": Tolerance(2.0),
        "folder": Path(),
        "digest": "",
        "seeds": (),
        "make_inputs": nothing,
        "reference": nothing,
        "baseline": nothing,
    }
    return Task(**{**fields, **more})  # type: ignore[arg-type]


def source(plan: str = PLAN, body: str = BODY) -> str:
    return f"/*+++\n{plan}+++*/\n{body}"
