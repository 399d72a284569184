"""Rate of compilation of CUDA kernels to machine code (sm_90a): in our worker, and by the ways that other projects use.

    python -m benchmarks.compile_rate                         times stored from a machine with an H200
    python3 -m benchmarks.compile_rate OUT [--seconds N]      collects: Python, numpy, NVRTC, nvcc, PyTorch

The same 50 distinct kernels for all, see compile_jobs.py.

Ours is the judge's own path: a fenced process that keeps NVRTC loaded, an empty cache. Beside it NVRTC in this process,
`nvcc -cubin` with the same headers, macros and optimisation, and PyTorch's `load_inline` (nvcc, the host's compiler and
the linker), which is given as many kernels as fit its time. The first three take turns at every kernel. Each way is
compared with ours on the kernels that it compiled.
"""

from __future__ import annotations

import math
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number, quantile
from benchmarks.collection import stored as measured
from benchmarks.compile_jobs import TARGET, Job, jobs, warm_up
from records.errors import ScientistError
from sandbox.gpu.compile.dialect import dialect_of, spell
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.gpu.compile.nvrtc import Nvcc, Nvrtc, find_compiler
from sandbox.target import load_target

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "compile_rate_h200.json"
IN_TURN_S, INLINE_S = 120.0, 100.0  # what the first three may take together, and the last
CORES = 2
FAULTS = (ScientistError, ValueError, OSError, RuntimeError, ImportError)
BINDING = "int64_t ready() { return 1; }\n"  # the least there can be: it does not even launch the kernel


def seconds_of(work: Callable[[Job], object], job: Job) -> float:
    """Measure the duration of the work on one kernel."""
    before = time.perf_counter()
    work(job)
    return time.perf_counter() - before


def in_turn(
    c: Collection,
    results: dict[str, Any],
    makers: Mapping[str, Callable[[], Callable[[Job], None]]],
    jobs: Sequence[Job],
    limit_s: float,
) -> None:
    """Try every way with one kernel, then with the next, until the time is up; one that fails leaves its reason.

    So what else the machine does meets all ways alike.
    """
    works, started, longest = dict[str, Callable[[Job], None]](), time.monotonic(), 0.0

    @contextmanager
    def excused(name: str) -> Iterator[None]:
        try:
            yield
        except FAULTS as error:
            works.pop(name, None)
            results[name] = {"failed": f"{type(error).__name__}: {str(error)[-600:]}"}
            c.say(f"{name} failed: {results[name]['failed']}")

    for name, make in makers.items():
        with excused(name):
            results[name], works[name] = {"cold_s": []}, make()
    for job in jobs:
        turn = time.monotonic()
        if turn - started + longest > min(limit_s, c.left_s()):
            break
        for name, work in list(works.items()):
            with excused(name):
                results[name]["cold_s"].append(seconds_of(work, job))
        longest = max(longest, time.monotonic() - turn)
    for name in works:
        cold = results[name]["cold_s"]
        c.say(f"{name}: {len(cold)} kernels, median {statistics.median(cold or [math.nan]):.4f} s")


def judged(compiler: GpuCompiler) -> Callable[[Job], None]:
    """Return our compiler, its worker up as it is all through a run."""

    def work(job: Job) -> None:
        build = compiler.compile(job.candidate, job.tunables)
        if build.findings:
            raise ValueError(f"{job.name} does not compile: {build.findings[0].message}")

    work(warm_up(0))
    return work


def on_two_cores(jobs: Sequence[Job]) -> dict[str, Any]:
    """Compile all at once on two cores, from an empty cache."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:CORES])  # before the workers start: they inherit it
    try:
        with tempfile.TemporaryDirectory() as folder:
            compiler = GpuCompiler(load_target(TARGET), Path(folder), workers=CORES)
            wait([compiler.submit(warm_up(i).candidate, {}) for i in range(CORES)])
            before = time.perf_counter()
            builds = [f.result() for f in [compiler.submit(j.candidate, j.tunables) for j in jobs]]
            passed = time.perf_counter() - before
            compiler.close()
    finally:
        os.sched_setaffinity(0, allowed)
    return {"two_cores_s": passed, "two_cores_right": sum(not build.findings for build in builds)}


def plain(compiler: Nvrtc | Nvcc) -> Callable[[Job], None]:
    """Return the compiler by itself, with our headers and the same macros."""
    kind = type(compiler).__name__.lower()
    dialect, arch = dialect_of(kind), load_target(TARGET).arch

    def work(job: Job) -> None:
        options = [*dialect.options, *(f"-D{k}={v}" for k, v in job.tunables.items())]
        build = compiler.compile(spell(kind, job.candidate.source), "kernel.cu", arch, options, dialect.headers)
        if build.image is None:
            raise ValueError(f"{kind} does not compile {job.name}: {build.log[-300:]}")

    work(warm_up(0))
    return work


def inline() -> Callable[[Job], None]:
    """Return PyTorch's `load_inline` with the smallest binding: the kernel, and a function that Python can call."""
    os.environ["TORCH_CUDA_ARCH_LIST"] = "9.0a"
    os.environ.setdefault("MAX_JOBS", str(len(os.sched_getaffinity(0))))
    import torch.utils.cpp_extension as extension  # type: ignore[import-not-found, unused-ignore]

    dialect, folder = dialect_of("nvcc"), Path(tempfile.mkdtemp(prefix="ks-inline-"))
    for name, text in dialect.headers.items():
        (folder / "include" / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / "include" / name).write_text(text, encoding="utf-8")

    def work(job: Job) -> None:
        name = "ks_" + job.name.replace(" ", "_")
        (folder / name).mkdir()
        macros = "".join(f"#define {k} {v}\n" for k, v in job.tunables.items())  # not before PyTorch's own headers
        extension.load_inline(
            name,
            cpp_sources="int64_t ready();",
            functions=["ready"],
            build_directory=str(folder / name),
            cuda_sources=BINDING + macros + spell("nvcc", job.candidate.source),
            verbose=False,
            extra_include_paths=[str(folder / "include")],
            extra_cuda_cflags=["-w", "-std=c++20", *dialect.options],
        )

    return work


def collect(out: Path, seconds: float) -> int:
    """Measure all ways, then what else is asked of ours."""
    c, kernels = Collection(out, FILE, seconds), jobs()
    results: dict[str, Any] = {
        "operations": [job.operation for job in kernels],
        "kernels": len({(j.candidate.id, tuple(sorted(j.tunables.items()))) for j in kernels}),
    }
    c.save(results)
    with tempfile.TemporaryDirectory() as folder:
        compiler = GpuCompiler(load_target(TARGET), Path(folder))
        in_turn(
            c,
            results,
            {"ours": lambda: judged(compiler), "nvrtc": lambda: plain(find_compiler()), "nvcc": lambda: plain(Nvcc())},
            kernels,
            IN_TURN_S,
        )
        if compiled := len(results["ours"].get("cold_s", ())):
            cached_compiler = judged(compiler)
            cached = [seconds_of(cached_compiler, job) for job in kernels[:compiled]]
            results["ours"] |= {"compiler": compiler.version, "cached_s": cached, **on_two_cores(kernels)}
        compiler.close()
    c.save(results)
    in_turn(c, results, {"load_inline": inline}, kernels, INLINE_S)
    c.save(results)
    c.say("done")
    return 0


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Compare ours with each other way, on the kernels that the other compiled; a way that failed has no figure."""
    from benchmarks.figure import Figure

    mine = stored["ours"]
    median = statistics.median(mine["cold_s"])
    rows = [
        Figure(
            "compile_rate.median",
            1e3 * median,
            "ms",
            "the slowest twentieth",
            1e3 * quantile(mine["cold_s"], 0.95),
            "",
            FILE,
        )
    ]
    for name, words, goal in (
        ("nvrtc", "NVRTC in process", ""),
        ("nvcc", "nvcc -cubin", ">= 4"),
        ("load_inline", "load_inline of PyTorch", ">= 100"),
    ):
        if cold := stored.get(name, {}).get("cold_s"):
            rows.append(_faster(name, words, cold, mine["cold_s"], goal))
    cached = 1e3 * statistics.median(mine["cached_s"])
    rows += [
        Figure("compile_rate.cached", cached, "ms", "not cached", 1e3 * median, "<= 1", FILE),
        Figure(
            "compile_rate.on_two_cores",
            mine["two_cores_right"] / mine["two_cores_s"],
            "kernels/s",
            "one after the other, one worker",
            1.0 / statistics.mean(mine["cold_s"]),
            "",
            FILE,
        ),
    ]
    theirs = stored.get("nvcc", {}).get("cold_s", ())
    operations = stored.get("operations", ())[: len(theirs)]
    for operation in dict.fromkeys(operations):
        pairs = [(theirs[i], mine["cold_s"][i]) for i, name in enumerate(operations) if name == operation]
        rows.append(_faster(f"nvcc.{operation}", "nvcc -cubin", [t for t, _ in pairs], [m for _, m in pairs], ""))
    return rows


def _faster(name: str, words: str, theirs: Sequence[float], mine: Sequence[float], goal: str) -> Figure:
    """Compare the two, where `mine` may go on behind the kernels that `theirs` is of."""
    from benchmarks.figure import Figure

    other, ours = statistics.median(theirs), statistics.median(mine[: len(theirs)])
    return Figure(
        f"compile_rate.faster_than_{name}",
        other / ours,
        "times",
        f"{words}, median of {len(theirs)}: {other:.3g} s, ours {ours:.3g} s; ours",
        1.0,
        goal,
        FILE,
    )


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(Path(words[0]), number(words, "--seconds", 290.0))
    from app.screen import say
    from benchmarks.figure import report

    stored = measured(FILE, "python3 -m benchmarks.compile_rate OUT")
    about = stored["about"]
    say(
        f"Measured: {about['device']}, driver {about['driver']}, {about['date']}; {stored['ours']['compiler']}; "
        f"{stored['kernels']} distinct kernels for sm_90a"
        f"{f', of {len(set(names))} operations' if (names := stored.get('operations')) else ''}."
    )
    for name in ("nvrtc", "nvcc", "load_inline"):
        if failed := stored.get(name, {}).get("failed"):
            say(f"{name} did not run: {failed}")
    return report("Compiling for the H200", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
