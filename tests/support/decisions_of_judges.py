"""The decisions of judges on representative inputs: plans, compilers, comparisons, limits, executions, drivers.

No module of the product is imported at this file's top; see tests/support/decisions.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

Row = tuple[str, Any, list[str]]  # the input's name, what was decided, the messages

CLANG = (
    "candidate.hip:3:5: error: use of undeclared identifier 'foo'",
    "candidate.hip:3:5: error: unknown type name 'half4'; did you mean 'half'?",
    "candidate.hip:1:10: fatal error: 'cub/cub.cuh' file not found",
    "candidate.hip:2:1: error: no member named 'min' in namespace 'std'",
    "candidate.hip:4:1: error: argument to '__builtin_amdgcn_s_waitcnt' must be a constant integer",
    "candidate.hip:4:1: error: no matching function for call to 'f'\ncandidate.hip:2:6: note: requires 2 arguments",
    "/include/hip/a.h:4:1: error: static assertion failed\ncandidate.hip:7:2: note: in instantiation of",
    "candidate.hip:9:1: error: expected ';' after expression",
    "error: candidate.hip:5:0: local memory (70000) exceeds limit (65536) in function '_Z1kPf'",
    "fatal error: error in backend: Cannot select: intrinsic %llvm.amdgcn.mfma.f32.16x16x32.bf16",
    "fatal error: error in backend: Cannot select: t12: f32 = fma",
    "fatal error: error in backend: unsupported launch_bounds",
    "LLVM ERROR: out of memory",
    "the compiler gave up",
    "",
)
LISTINGS = (
    "\t.amdhsa_kernel k\n\ts_memtime s[0:1]\n",
    '\t.incbin "/etc/passwd"\n',
    "\t.amdhsa_kernel k\n\t.amdhsa_kernel k\n",
    '\t.section\t.init_array,"aw"\n',
    "\ts_endpgm\n",
)
INCLUDES = (
    "#include <unistd.h>",
    "#include NAME",
    "#line 3",
    "asm(TEXT);",
    'asm(".incbin \\"a\\"");',
    "/* no end",
    '_Pragma("GCC dependency \\"a\\"")',
    "#include <hip/hip_runtime.h>",
)
SUMS = """/*+++
[[launch]]
kernel = "k"
grid = [1]
block = [64]
args = ["x", "y"]
+++*/
#include <hip/hip_runtime.h>
__global__ void k(const float* x, float* y) { __shared__ float t[64]; t[threadIdx.x] = x[threadIdx.x]; __syncthreads();
y[threadIdx.x] = t[63 - threadIdx.x]; }
"""


def finding(fault: Any) -> list[Any]:
    return [fault.kind, fault.code, fault.line, fault.kernel, fault.case, fault.buffer]


def judged(name: str, stage: Any, findings: Any) -> Row:
    """A verdict on findings, as every stage gives it."""
    from sandbox.candidate.codes import rejected

    verdict = rejected(stage, findings)
    return name, [verdict.stage, verdict.code, *map(finding, findings)], [f.message for f in findings]


def plans(folder: Path) -> Iterator[Row]:
    """Every plan fault that the parser's own tests know, through the stage that turns it into a verdict."""
    from sandbox.candidate.prepare import prepare
    from tests.unit.sandbox.candidate import test_parse as known
    from tests.unit.sandbox.candidate import test_resolve as resolved

    def rows(test: Any) -> Any:
        return next(mark for mark in test.pytestmark if mark.name == "parametrize").args[1]

    task = known.a_task()
    texts = [text for text, _, _ in rows(known.test_refuses_files_without_a_readable_plan)]
    for old, new, *_ in rows(known.test_every_malformed_field_is_named_with_its_line):
        texts.append(known.source(known.PLAN.replace(old, new)))
    cases = [(text, task, None) for text in texts]
    for old, new, dims, tunables, _ in rows(resolved.test_refuses_sizes_that_cannot_be):
        plan = known.PLAN.replace(old, new) if old else known.PLAN
        cases.append((known.source(plan), known.a_task(({"rows": 7, "cols": 1000, **dims},)), tunables))
    for number, (text, plan_task, chosen) in enumerate([*cases, (known.source(), task, {})]):
        refusal = prepare(text, plan_task, chosen).refusal
        if refusal is None:
            yield f"plan {number}", "fits", []
        else:
            yield (
                f"plan {number}",
                [refusal.stage, refusal.code, *map(finding, refusal.findings)],
                [f.message for f in refusal.findings],
            )


def compilers(folder: Path) -> Iterator[Row]:
    """What clang, the assembler and the linker print, and what is refused before they run."""
    from sandbox.candidate import diagnostics as read
    from sandbox.candidate.source_refusals import source_refusals
    from sandbox.gpu.compile.includes import refusals
    from sandbox.process import Completed

    source = "__global__ void k(float* p) {}\n" * 12
    for number, output in enumerate(CLANG):
        for status, late in ((1, False), (-9, False), (1, True)):
            process = Completed(status, "", output, late, 0.0)
            name = f"clang {number} {status} {late}"
            _, decided, words = judged(name, "compile", read.compiler_findings(process, source))
            yield name, [read.ending_of(process) is None, decided], words
    for output in ("candidate.s:4:2: error: invalid instruction", "", "bad_alloc", "strange"):
        yield judged(
            f"assembler {output}", "compile", read.assembler_findings(Completed(1, "", output, False, 0.0), "")
        )
    for output in ("ld.lld: error: undefined symbol: f(int)\n>>> referenced by candidate.hip:8", "", "strange"):
        yield judged(f"linker {output}", "compile", read.linker_findings(Completed(1, "", output, False, 0.0)))
    for number, text in enumerate(LISTINGS):
        yield judged(f"listing {number}", "compile", read.listing_findings(text))
    for text in ("#line 4", "int KS_A;", "/* no end"):
        yield judged(f"source {text}", "compile", source_refusals(text))
    for text in INCLUDES:
        yield judged(f"reads {text}", "compile", refusals(text, frozenset({"hip/hip_runtime.h"}), True))


def comparisons(folder: Path) -> Iterator[Row]:
    """A wrong output of every pattern, and a right one."""
    import numpy as np

    from sandbox.candidate.codes import wrong_result
    from tasks.compare import compare
    from tasks.task import Tolerance

    want = np.random.default_rng(3).standard_normal((8, 8))
    base = want.astype(np.float32)
    zero_row, factors, scattered = base.copy(), base.copy(), base.copy()
    zero_row[3], factors[2], scattered[4, 4:6] = 0, 3 * factors[2], 9
    outputs = {
        "right": base,
        "shape": base[:4],
        "NaN": np.where(base > 1, np.nan, base),
        "zero": 0 * base,
        "constant": 0 * base + 2,
        "scaled": 2 * base,
        "shifted": base + 7,
        "transposed": base.T.copy(),
        "moved rows": np.roll(base, 1, axis=0),
        "moved columns": np.roll(base, 1, axis=1),
        "zero row": zero_row,
        "row factor": factors,
        "accuracy": base + np.float32(0.01) * np.sign(base),
        "scattered": scattered,
    }
    for name, output in outputs.items():
        match = compare(output.astype(np.float32), want, base, Tolerance(2.0))
        fault = wrong_result("y", match, "case")
        yield name, [match.correct, match.pattern, *judged(name, "correct", (fault,))[1]], [match.message]


def limits(folder: Path) -> Iterator[Row]:
    """Launches that a GPU refuses, and arguments that do not match."""
    from sandbox.candidate.kernel import KernelArgument, KernelMetadata
    from sandbox.candidate.limits import check_arguments, check_limits
    from sandbox.candidate.resolve import BufferArg, ResolvedLaunch, ResolvedPlan, ScalarArg
    from sandbox.target import load_target

    kernel = KernelMetadata("k", "k", (KernelArgument(True, 0, 8),), 32, 0, 16, 4096, 0, 256)
    launches: dict[str, tuple[Any, ...]] = {
        "right": ("k", (4, 1, 1), (64, 1, 1), 0, (BufferArg("x"),)),
        "block": ("k", (4, 1, 1), (2048, 1, 1), 0, (BufferArg("x"),)),
        "bounds": ("k", (4, 1, 1), (512, 1, 1), 0, (BufferArg("x"),)),
        "grid": ("k", (1 << 33, 1, 1), (1, 1, 1), 0, (BufferArg("x"),)),
        "wide": ("k", (1 << 30, 1, 1), (64, 1, 1), 0, (BufferArg("x"),)),
        "LDS": ("k", (4, 1, 1), (64, 1, 1), 65536, (BufferArg("x"),)),
        "count": ("k", (4, 1, 1), (64, 1, 1), 0, ()),
        "value": ("k", (4, 1, 1), (64, 1, 1), 0, (ScalarArg("i32", 3),)),
        "absent": ("other", (4, 1, 1), (64, 1, 1), 0, ()),
    }
    for name, arguments in launches.items():
        plan = ResolvedPlan((ResolvedLaunch(*arguments),), {})
        faults = (*check_arguments(plan, (kernel,)), *check_limits(plan, load_target("mi300x"), (kernel,)))
        yield judged(f"limit {name}", "compile", faults)


def executions(folder: Path) -> Iterator[Row]:
    """The first kernel of each kind in the corpus of faults that the lab executes; what clang says is not ours."""
    from tests.kernels.faults.faults import cases, findings

    kinds = set[str]()
    for case, _ in cases():
        if case.kind not in kinds and case.kind not in ("timeout", "compile_error"):
            kinds.add(case.kind)
            yield judged(case.id, "execute", findings(case))


def drivers(folder: Path) -> Iterator[Row]:
    """Every status of both drivers, at a launch and elsewhere, and what a dying runtime prints."""
    from sandbox.gpu.driver.driver import symbols_of
    from sandbox.gpu.driver.library import CallFailed

    for vendor in ("amd", "nvidia"):
        symbols = symbols_of(vendor)
        for status in sorted({*symbols.faults, *symbols.refusals, *symbols.lost, 2, 12345}):
            for verb in ("launch", "synchronize"):
                error = CallFailed(symbols, verb, status, "said")
                decided = [error.fault, error.lost, error.out_of_memory, error.is_unclear]
                yield f"{vendor} {verb} {status}", decided, [str(error)]
        for output in (
            "Memory access fault by GPU node-1",
            "HW Exception, reason :GPU Hang",
            "HSA_STATUS_ERROR_EXCEPTION",
            "x",
        ):
            blamed = symbols.blame(output)
            yield f"{vendor} prints {output}", blamed and blamed[0], []


def devices(folder: Path) -> Iterator[Row]:
    """The judge of real GPUs on the stub of HIP's runtime: a right kernel and one of each stage that refuses."""
    from dataclasses import replace

    from sandbox.gpu.gpu_evaluator import GpuEvaluator
    from sandbox.target import load_target
    from tasks.loader import load_task
    from tests.integration.test_device_judge import QUICK, RIGHT, source
    from tests.support.compiler_cache import COMPILED, toolchain
    from tests.support.hip_own_kernels import KERNELS
    from tests.support.hip_stub import hip_stub, local

    task = load_task(str(Path(__file__).parents[1] / "kernels" / "exploits" / "tasks" / "scale"))
    benchmark = replace(task.benchmarks[0], dims={"n": 3000})  # few launches: what they refuse is refused of the first
    task = replace(task, tests=task.tests[:1], benchmarks=(benchmark,), plant=())
    target = load_target("mi300x")
    target = replace(target, memory={**target.memory, "mall_bytes": 4096, "l2_bytes": 4096})
    bodies = {
        "right": RIGHT,
        "wrong": "if (i < n) y[i] = 2 * factor * x[i];",
        "unwritten": "if (i < n - 1) y[i] = factor * x[i];",
        "input": "if (i < n) { y[i] = factor * x[i]; x[i] = 0; }",
        "undeclared": "if (i < n) y[i] = factor * z[i];",
        "unknown header": "\n#include <unistd.h>\n",
    }
    with hip_stub(toolchain(), COMPILED) as stub:
        stub.world.skipped |= {"trusted_sweep", "trusted_scrub"}
        stub.world.computed |= set(KERNELS)
        judge = GpuEvaluator(target, folder, 0, library=stub.library, spares=0, rules=QUICK, make=local)
        try:
            for name, body in bodies.items():
                verdict = judge.verify(judge.prepare(source(body), task)).verdict
                decided = [verdict.stage, verdict.code, *map(finding, verdict.findings)]
                yield f"device {name}", decided, [f.message for f in verdict.findings]
        finally:
            judge.close()
