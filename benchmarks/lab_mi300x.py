"""The lab's bound for AMD's chips beside times that others measured and published; no GPU is needed to print it.

Two sets. Streaming kernels on the MI300A, whose chiplets are the MI300X's with fewer of them: the target is the
MI300X's file with 228 units on 6 chiplets. And the fp8 GEMM of AMD's developer challenge of 2025 on the MI300X: the
bound of `benchmarks/kernels/fp8_block_gemm.hip` (ours) beside the times of the winner's kernel (not ours). A bound must
lie below every measured time of the same kernel; for another kernel of the same task it only should.
"""

from __future__ import annotations

import hashlib
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from app.screen import format_us, say, table
from app.settings import load_settings
from benchmarks.figure import Figure, report
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.plan import Candidate, Launch, Plan
from sandbox.candidate.prepare import prepare
from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
from sandbox.lab.cost.bound import bound
from sandbox.lab.lab import Buffer, ExecutionRequest, Lab, LabProgram
from sandbox.lab.lab_verify import Built
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.predict import predict
from sandbox.target import Target, load_target
from tasks.loader import load_task

KERNELS = Path(__file__).parent / "kernels"
WINNER = "RadeonFlow_Kernels, its README (own checker, best of its runs)"
WINNER_GEOMEAN_US = 92.03  # over the challenge's 18 shapes
WINNER_US = {  # the six shapes that are published one by one
    "m=1024,n=1536,k=7168": 76.33,
    "m=1024,n=3072,k=1536": 42.78,
    "m=1024,n=576,k=7168": 45.14,
    "m=1024,n=7168,k=256": 20.37,
    "m=1024,n=7168,k=2048": 75.29,
    "m=1024,n=4608,k=7168": 136.35,
}


@dataclass(frozen=True)
class Stream:
    """One streaming kernel: so many inputs and one output of `count` floats, one work-item an element."""

    name: str
    inputs: int
    count: int
    published_us: float


STREAMS = (  # MGPUSim, gpu_perf_scripts/mi300a.csv (MIT): times measured on an MI300A
    Stream("vector_add", 2, 1 << 28, 1300.0),
    Stream("relu", 1, 1 << 29, 1450.0),
    Stream("vector_add", 2, 256, 4.2),  # the smallest kernels there take 4.2 to 4.6 us
)


@dataclass(frozen=True)
class Row:
    """One comparison."""

    figure: str
    what: str
    source: str
    published_us: float
    bound_us: float
    resource: str


def mi300a() -> Target:
    """The MI300X's file with the counts of the MI300A; clock and HBM bandwidth are the same."""
    x = load_target("mi300x")
    units = 228 / x.units
    return replace(
        x,
        name="mi300a",
        title="AMD Instinct MI300A",
        units=228,
        peaks_tflops={name: peak * units for name, peak in x.peaks_tflops.items()},
        memory={**x.memory, "l2_tb_s": x.memory["l2_tb_s"] * 6 / 8, "l2_count": 6},
    )


def streaming(lab: Lab, compiler: Compiler, target: Target, work: Stream) -> Row:
    """The bound of one streaming kernel. Nothing is read but addresses, so the inputs are holes of the right size."""
    source = (KERNELS / f"{work.name}.hip").read_text(encoding="utf-8")
    names = [*(f"in{i}" for i in range(work.inputs)), "out"]
    plan = Plan((Launch(work.name, ("1",), ("1",), "0", ("a",) * (len(names) + 1), 1),))
    candidate = Candidate(hashlib.sha256(source.encode()).hexdigest(), source, plan)
    program, compiled = lab.build(candidate, {}), compiler.compile(candidate, {})
    if not isinstance(program, LabProgram) or not compiled.ok:
        sys.exit(f"{work.name} does not compile")
    launch = ResolvedLaunch(
        work.name,
        (work.count // 256, 1, 1),
        (256, 1, 1),
        0,
        (*(BufferArg(n) for n in names), ScalarArg("i32", work.count)),
    )
    resolved = ResolvedPlan((launch,), {})
    buffers = [Buffer(n, np.empty(work.count, np.float32), "workspace") for n in names]
    seen = lab.execute(ExecutionRequest(program, resolved, buffers, count=True, blocks=8, deadline_s=60.0))
    if seen.findings:
        sys.exit(f"{work.name}: {seen.findings[0].message}")
    code = {k.name: k.blocks for k in compiled.kernels}
    limit = bound(
        seen.launches,
        compiled.resources,
        resolved,
        target,
        4.0 * work.count * len(names),
        float(work.count),
        "fp32_vector",
        code,
    )
    return Row(
        f"{work.name}.{work.count}",
        f"{work.name}, {work.count:,} floats, MI300A",
        "MGPUSim, mi300a.csv",
        work.published_us,
        limit.time_us,
        limit.resource,
    )


def challenge(lab: Lab, compiler: Compiler) -> list[Row]:
    """The bounds of our kernel on the challenge's shapes, and their geometric mean."""
    task, target = load_task("fp8_block_gemm"), load_target("mi300x")
    prepared = prepare((KERNELS / "fp8_block_gemm.hip").read_text(encoding="utf-8"), task)
    candidate, chosen = prepared.candidate, prepared.tunables
    program, compiled = lab.build(candidate, chosen), compiler.compile(candidate, chosen)
    if not isinstance(program, LabProgram) or not compiled.ok:
        sys.exit("fp8_block_gemm.hip does not compile")
    forecast = predict(lab, Built(prepared, compiled, program), target, compiled.resources)
    if forecast.findings:
        sys.exit(f"fp8_block_gemm.hip: {forecast.findings[0].message}")
    rows = [
        Row(m.case, f"fp8 GEMM {m.case}", WINNER, WINNER_US[m.case], m.time_us, m.bound)
        for m in forecast.measurements
        if m.case in WINNER_US
    ]
    times = [m.time_us for m in forecast.measurements]
    mean = math.exp(sum(map(math.log, times)) / len(times))
    return [
        *rows,
        Row("geomean", f"fp8 GEMM, geometric mean of {len(times)} shapes", WINNER, WINNER_GEOMEAN_US, mean, ""),
    ]


def main() -> int:
    """Compute every bound and print it beside its published time."""
    cache = load_settings().cache_folder
    chain, target = find_toolchain(cache / "toolchain"), load_target("mi300x")
    lab, compiler = MachineLab(chain, cache / "kernels", target), Compiler(chain, cache / "kernels", target)
    rows = [*(streaming(lab, compiler, mi300a(), work) for work in STREAMS), *challenge(lab, compiler)]
    table(
        ["what", "measured", "bound", "bound/measured", "binds", "measured by"],
        [
            [
                r.what,
                format_us(r.published_us),
                format_us(r.bound_us),
                f"{r.bound_us / r.published_us:.2f}",
                r.resource,
                r.source,
            ]
            for r in rows
        ],
        right=[1, 2, 3],
    )
    say(
        "The streaming rows compare a bound with a run of the same algorithm. The GEMM rows compare our kernel's bound "
        "with another kernel's time:\nthey show that the bound does not contradict what hardware has done, not how "
        "fast ours would be."
    )
    return report(
        "Bound against published times",
        [
            Figure(
                f"lab_mi300x.{r.figure}",
                r.bound_us,
                "us",
                "published measurement",
                r.published_us,
                f"<= {r.published_us:g}",
            )
            for r in rows
        ],
    )


if __name__ == "__main__":
    sys.exit(main())
