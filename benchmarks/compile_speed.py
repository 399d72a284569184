"""Duration of compilation to gfx942 code: 50 sources, each compiled once with nothing cached and once from the cache.

The sources are the tasks' seeds and this folder's kernels in turn, each with one further kernel whose arithmetic no
other source has. The anchor of both is an empty kernel without any header, compiled in the same run: what starting the
compiler, the assembler and the linker costs by itself.
"""

from __future__ import annotations

import hashlib
import statistics
import sys
import tempfile
import time
from pathlib import Path

from app.settings import load_settings
from benchmarks.figure import Figure, report
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.parse import parse
from sandbox.candidate.plan import Candidate, Plan
from sandbox.target import load_target
from tasks.loader import load_task, task_names

ROOT = Path(__file__).resolve().parent.parent
SOURCES = 50
EMPTY = 'extern "C" __attribute__((global)) void nothing() {}\n'
EXTRA = """
extern "C" __global__ __launch_bounds__(256) void extra(float* y, int n) {{
    float sum = 0.0f;
    for (int i = threadIdx.x; i < n; i += 256) sum = sum * {0}.5f + y[i];
    y[threadIdx.x + {0}] = sum;
}}
"""


def candidate(source: str) -> Candidate:
    """Make a candidate of a source without the launch plan's meaning: only the compiler sees it."""
    return Candidate(hashlib.sha256(source.encode()).hexdigest(), source, Plan(()))


def sources() -> list[str]:
    """List distinct kernels."""
    seeds = [seed for name in task_names() for seed in load_task(name, "mi300x").seeds]
    files = [*seeds, *sorted((ROOT / "benchmarks" / "kernels").glob("*.hip"))]
    return [files[i % len(files)].read_text(encoding="utf-8") + EXTRA.format(i + 1) for i in range(SOURCES)]


def tunables(source: str) -> dict[str, int]:
    """Return the defaults of the source's own plan, where it has one."""
    return parse(source).defaults() if source.startswith("/*+++") else {}


def seconds(compiler: Compiler, source: str, chosen: dict[str, int]) -> float:
    """Measure the wall time of one compilation; one that fails ends the benchmark."""
    start = time.perf_counter()
    compilation = compiler.compile(candidate(source), chosen)
    spent = time.perf_counter() - start
    if not compilation.ok:
        sys.exit(f"a source does not compile: {compilation.findings[0].message}")
    return spent


def main() -> int:
    """Compile everything twice in a new cache and report."""
    toolchain = find_toolchain(load_settings().cache_folder / "toolchain")
    with tempfile.TemporaryDirectory() as folder:
        compiler = Compiler(toolchain, Path(folder), load_target("mi300x"))
        seconds(compiler, EMPTY, {})
        first, cached, empty = [], [], []
        for number, source in enumerate(sources()):
            chosen = tunables(source)
            if number % 10 == 0:
                empty.append(seconds(compiler, f"{EMPTY}// {number}\n", {}))
            first.append(seconds(compiler, source, chosen))
            cached.append(seconds(compiler, source, chosen))
    anchor = statistics.median(empty)
    return report(
        f"Compiling {SOURCES} kernels for gfx942",
        [
            Figure("compile.median", statistics.median(first), "s", "an empty kernel", anchor, "< 0.5"),
            Figure("compile.slowest", max(first), "s", "an empty kernel", anchor),
            Figure("compile.cached", statistics.median(cached), "s", "an empty kernel", anchor, "< 0.005"),
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
