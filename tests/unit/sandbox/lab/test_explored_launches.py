"""Numbers of a launch for many shapes at once, as resolving and packing give them for each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from records.errors import PlanError
from sandbox.candidate.prepare import Prepared
from sandbox.lab.explored_launches import NUMBERS, launch_words
from sandbox.machine.kernarg import KernargLayout, layout_of, pack
from tasks.loader import load_task
from tests.support.lab_bench import evaluator

TASK = load_task("row_softmax")
PLAN = """/*+++
tunables = {{ WIDE = [4] }}
[[launch]]
kernel = "k"
grid = ["ceil_div(rows, WIDE)", "1 + cols % 3"]
block = ["64"]
lds = "4 * cols"
{when}args = ["x", "y", "rows", "cols:i64", ["rows * cols", "7:u8", "cols if rows > 9 else -1"], "1.0 / cols"]
+++*/
struct s {{ int a; unsigned char b; int c; }};
extern "C" __global__ void k(const float* x, float* y, int rows, long cols, s t, float f) {{}}
"""
ADDRESSES = {"x": 1 << 40, "y": 2 << 40}


def value(offset: int, size: int, kind: str = "by_value") -> dict[str, Any]:
    return {".value_kind": kind, ".offset": offset, ".size": size}


@pytest.fixture
def layout() -> KernargLayout:
    pointers = [{".value_kind": "global_buffer", ".size": 8, ".offset": 8 * n} for n in range(2)]
    explicit = [*pointers, value(16, 4), value(24, 8), value(32, 12), value(44, 4)]
    hidden = [value(48, 4, "hidden_block_count_x"), value(52, 4, "hidden_block_count_y")]
    hidden += [value(60, 2, "hidden_group_size_x"), value(64, 4, "hidden_dynamic_lds_size")]
    return layout_of({".name": "k", ".kernarg_segment_size": 72, ".args": [*explicit, *hidden]})


def columns(prepared: Prepared) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    drawn = {"rows": rng.integers(1, 40, 60), "cols": rng.integers(1, 5000, 60)}
    return drawn | {name: np.full(60, chosen) for name, chosen in prepared.tunables.items()}


def words(prepared: Prepared, layout: KernargLayout, table: dict[str, Any]) -> Any:
    resolved = prepared.plan(TASK.tests[0]).launches[0]
    segment = pack(layout, resolved, ADDRESSES)
    return launch_words(prepared.candidate.plan.launches[0], resolved, segment, layout, table)


def test_rows_hold_what_each_plan_has(layout: KernargLayout) -> None:
    prepared = evaluator(7).prepare(PLAN.format(when=""), TASK)
    table = columns(prepared)
    rows = words(prepared, layout, table)
    assert len(rows) == 60
    for row in rows:
        number = int(row[0])
        dims = {name: int(table[name][number]) for name in ("rows", "cols")}
        launch = prepared.plan(replace(TASK.tests[0], name=str(number), dims=dims)).launches[0]
        assert row[1:NUMBERS].tolist() == [*launch.grid, *launch.block, launch.lds_bytes]
        segment = bytearray(pack(layout, launch, ADDRESSES))
        segment[44:48] = rows[0].tobytes()[8 * NUMBERS + 44 : 8 * NUMBERS + 48]  # a real number stays as it was
        assert row[NUMBERS:].tobytes() == bytes(segment)


def test_rows_without_the_launch_are_left_out(layout: KernargLayout) -> None:
    prepared = evaluator(7).prepare(PLAN.format(when='when = "cols % 2 == 0"\n'), TASK)
    table = columns(prepared)
    assert words(prepared, layout, table)[:, 0].tolist() == np.flatnonzero(table["cols"] % 2 == 0).tolist()


def test_a_name_without_a_column_is_refused(layout: KernargLayout) -> None:
    prepared = evaluator(7).prepare(PLAN.format(when=""), TASK)
    with pytest.raises(PlanError, match="has no columns"):
        words(prepared, layout, {"rows": np.arange(1, 4), "WIDE": np.full(3, 4)})
