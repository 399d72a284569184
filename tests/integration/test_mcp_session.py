"""A coding agent, scripted, that improves a kernel with `check` alone; and what it is never told of held-out cases."""

from __future__ import annotations

import json
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from app.mcp.kernel_calls import answer_call
from app.settings import Settings
from sandbox.candidate.prepare import prepare
from sandbox.cases.shapes.growth import plan_cases
from tasks.held_out import held_out_cases
from tasks.loader import load_task

pytestmark = pytest.mark.slow
SEED = 20261122

TILED = """\
/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, 32)", "ceil_div(rows, 32)"]
block = ["32", "8"]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ __launch_bounds__(256) void transpose(const float* __restrict__ x, float* __restrict__ y,
                                                            int rows, int cols) {
    __shared__ float tile[32][33];
    const int lane = threadIdx.x, left = blockIdx.x * 32, top = blockIdx.y * 32;
    for (int i = threadIdx.y; i < 32; i += 8)
        if (top + i < rows && left + lane < cols) tile[i][lane] = x[(long)(top + i) * cols + left + lane];
    BARRIER
    for (int j = threadIdx.y; j < 32; j += 8)
        if (left + j < COLUMNS && top + lane < rows) y[(long)(left + j) * rows + top + lane] = tile[lane][j];
}
"""


class Agent:
    """Reads a task, then repairs its own kernel by what the findings say, as long as they say something."""

    def __init__(self, task: dict[str, Any]) -> None:
        self.source = TILED.replace("BARRIER", "").replace("COLUMNS", "cols + 1")
        assert "rows" in task["description"] and "cols" in task["seed_source"]

    def repair(self, verdict: dict[str, Any]) -> None:
        """One repair for one finding, by its kind and its line."""
        [first] = verdict["findings"][:1]
        lines = self.source.split("\n")
        if "__syncthreads" in first["message"] or first["kind"] in ("race", "uninitialised"):
            index = next(n for n, line in enumerate(lines) if "int j = threadIdx.y" in line)
            if "__syncthreads" not in self.source:
                lines.insert(index, "    __syncthreads();")
        assert first["line"] is not None
        if "__syncthreads" in self.source or first["kind"] == "out_of_bounds":
            lines[first["line"] - 1] = lines[first["line"] - 1].replace("cols + 1", "cols")
        self.source = "\n".join(lines)


@pytest.mark.long
@pytest.mark.skipif(find_spec("mcp") is None, reason="the extra mcp is not installed")
def test_a_scripted_agent_improves_a_kernel_with_check_alone(tmp_path: Path, compiler_cache: Path) -> None:
    import anyio

    from tests.support.mcp_client import answer, connected

    verdicts: list[dict[str, Any]] = []

    async def session() -> None:
        async with connected(tmp_path, compiler_cache) as client:
            sheet = await answer(client, "show_task", task="transpose")
            verdicts.append(await answer(client, "check", task="transpose", source=sheet["seed_source"]))
            agent = Agent(sheet)
            for _ in range(5):
                verdict = await answer(client, "check", task="transpose", source=agent.source)
                verdicts.append(verdict)
                if verdict["accepted"]:
                    break
                agent.repair(verdict)

    anyio.run(session)
    seed, *tries, last = verdicts
    assert seed["accepted"] and last["accepted"]
    assert len(tries) == 2 and not any(verdict["accepted"] for verdict in tries)
    assert last["geomean_us"] < 0.95 * seed["geomean_us"]


LISTED_ONLY = """\
/*+++
[[launch]]
kernel = "transpose"
grid = ["ceil_div(cols, 16)", "ceil_div(rows, 16)"]
block = ["16", "16"]
lds = "0"
args = ["x", "y", "rows", "cols"]
+++*/
#include <hip/hip_runtime.h>
extern "C" __global__ void transpose(const float* x, float* y, int rows, int cols) {
    const int j = blockIdx.x * 16 + threadIdx.x, i = blockIdx.y * 16 + threadIdx.y;
    const bool known = KNOWN;
    if (i < rows && j < cols) FAULT;
}
"""


@pytest.mark.parametrize(
    "fault",
    [
        "y[(long)j * rows + i] = known ? x[(long)i * cols + j] : 3.0f",
        "y[(long)j * rows + i + (known ? 0 : rows * cols)] = x[(long)i * cols + j]",
        "if (known) y[(long)j * rows + i] = x[(long)i * cols + j]",
    ],
)
def test_a_kernel_that_knows_the_listed_shapes_is_told_nothing_of_the_others(
    tmp_path: Path, compiler_cache: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("KERNEL_SCIENTIST_CACHE_FOLDER", str(compiler_cache))
    assert Settings().cache_folder == compiler_cache
    task = load_task("transpose", "mi300x")
    condition = " || ".join(
        f"(rows == {case.dims['rows']} && cols == {case.dims['cols']})" for case in (*task.tests, *task.benchmarks)
    )
    source = LISTED_ONLY.replace("KNOWN", condition).replace("FAULT", fault)
    kernel = {"source": source, "task": "transpose", "seed": SEED, "shapes": []}
    verdict = answer_call({"call": "check", "kernels": [kernel]})["answer"]
    assert not verdict["accepted"] and verdict["stage"] in ("execute", "correct")
    assert verdict["findings"][0]["case"] == "a held-out case"
    text = json.dumps({name: verdict[name] for name in ("findings", "wrong_cases", "explanation")})
    hidden = [*held_out_cases(task, SEED), *plan_cases(prepare(source, task), SEED)]
    assert len(hidden) > 4
    assert [case.name for case in hidden if case.name in text] == []
    messages = [row["message"] for row in (*verdict["findings"], *verdict["wrong_cases"])]
    assert [message for message in messages if re.search(r"\d", message)] == []
    assert str(SEED) not in json.dumps(verdict)
