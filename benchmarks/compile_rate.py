"""How fast CUDA kernels become machine code (sm_90a): in our worker, and by the ways that other projects use.

    python -m benchmarks.compile_rate                         times stored from a machine with an H200
    python3 -m benchmarks.compile_rate OUT [--seconds N]      collects: Python, numpy, NVRTC, nvcc, PyTorch

The same 50 distinct kernels for all: the tunable seeds of three tasks with different tunables. Ours is the judge's own
path: a fenced process that keeps NVRTC loaded, an empty cache. Beside it NVRTC in this process, `nvcc -cubin`, and
PyTorch's `load_inline` (nvcc, the host's compiler and the linker), which is given as many kernels as fit its time.
"""

from __future__ import annotations

import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import wait
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from benchmarks.collection import Collection, number, quantile
from benchmarks.collection import stored as measured
from records.errors import ScientistError
from sandbox.candidate import Candidate
from sandbox.device.compiler import DeviceCompiler
from sandbox.device.dialect import dialect_of, spell
from sandbox.device.nvrtc import Nvcc, Nvrtc, find_compiler
from sandbox.plan import parse
from sandbox.resolve import choices
from sandbox.target import load_target
from tasks.loader import load_task

if TYPE_CHECKING:
    from benchmarks.figure import Figure

FILE = "compile_rate_h200.json"
DATA = Path(__file__).parent / "data"
SEEDS = {"rms_norm": ("seed_tunable.hip", 20), "row_softmax": ("seed_tunable.hip", 20), "transpose":
         ("seed_tiled.hip", 10)}
NVCC_S, INLINE_S = 75.0, 100.0  # what the slow ways may take
CORES = 2
BINDING = "int64_t ready() { return 1; }\n"  # the least there can be: it does not even launch the kernel


@dataclass(frozen=True)
class Job:
    """One kernel to compile."""

    name: str
    candidate: Candidate
    tunables: Mapping[str, int]


def jobs() -> list[Job]:
    """50 distinct kernels: choices of tunables spread evenly over all legal ones."""
    found = []
    for task_name, (file, count) in SEEDS.items():
        task = load_task(task_name)
        candidate = parse((task.folder / file).read_text(encoding="utf-8"))
        legal = choices(candidate, task)
        found += [Job(f"{task_name} {i}", candidate, legal[i * len(legal) // count]) for i in range(count)]
    return found


def times(work: Callable[[Job], object], these: Sequence[Job], limit_s: float) -> list[float]:
    """Seconds a kernel, in turn, until the time is up."""
    started, found = time.monotonic(), list[float]()
    for job in these:
        if found and time.monotonic() - started + found[-1] > limit_s:
            break
        before = time.perf_counter()
        work(job)
        found.append(time.perf_counter() - before)
    return found


def ours(c: Collection, these: Sequence[Job]) -> dict[str, Any]:
    """Our compiler: cold, again from the cache, and all at once on two cores."""
    target, found = load_target("h200"), dict[str, Any]()
    with tempfile.TemporaryDirectory() as folder:
        compiler = DeviceCompiler(target, Path(folder))
        found["compiler"] = compiler.version

        def compile_one(job: Job) -> None:
            build = compiler.compile(job.candidate, job.tunables)
            if build.findings:
                raise ValueError(f"{job.name} does not compile: {build.findings[0].message}")

        warm_up = parse((load_task("rms_norm").folder / "seed.hip").read_text(encoding="utf-8"))
        compile_one(Job("warm-up", warm_up, {}))  # the worker is up, as it is all through a run
        found["cold_s"] = times(compile_one, these, c.left_s())
        found["cached_s"] = times(compile_one, these, c.left_s())
        compiler.close()
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, sorted(allowed)[:CORES])  # before the workers start: they inherit it
    try:
        with tempfile.TemporaryDirectory() as folder:
            compiler = DeviceCompiler(target, Path(folder), workers=CORES)
            wait([compiler.submit(warm_up, {}), compiler.submit(these[0].candidate, {})])
            before = time.perf_counter()
            done = [f.result() for f in [compiler.submit(j.candidate, j.tunables) for j in these]]
            found["two_cores_s"] = time.perf_counter() - before
            found["two_cores_right"] = sum(not build.findings for build in done)
            compiler.close()
    finally:
        os.sched_setaffinity(0, allowed)
    return found


def plain(compiler: Nvrtc | Nvcc) -> Callable[[Job], None]:
    """The compiler by itself, with our headers and the same macros."""
    kind = type(compiler).__name__.lower()
    dialect, arch = dialect_of(kind), load_target("h200").arch

    def work(job: Job) -> None:
        options = [*dialect.options, *(f"-D{k}={v}" for k, v in job.tunables.items())]
        made = compiler.compile(spell(kind, job.candidate.source), "kernel.cu", arch, options, dialect.headers)
        if made.image is None:
            raise ValueError(f"{kind} does not compile {job.name}: {made.log[-300:]}")

    return work


def inline() -> Callable[[Job], None]:
    """PyTorch's `load_inline` with the smallest binding: the kernel, and a function that Python can call."""
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
            name, cpp_sources="int64_t ready();", functions=["ready"], build_directory=str(folder / name),
            cuda_sources=BINDING + macros + spell("nvcc", job.candidate.source), verbose=False,
            extra_include_paths=[str(folder / "include")], extra_cuda_cflags=["-w", "-std=c++20", *dialect.options])

    return work


def collect(out: Path, seconds: float) -> int:
    """Every way in turn; one that fails leaves its reason."""
    c, found = Collection(out, FILE, seconds), dict[str, Any]()
    these = jobs()
    found["kernels"] = len({(j.candidate.id, tuple(sorted(j.tunables.items()))) for j in these})
    c.save(found)

    def others(name: str, make: Callable[[], Callable[[Job], None]], limit_s: float) -> None:
        try:
            work = make()
            if name == "nvrtc":
                times(work, these[:1], 60.0)  # the library's first compilation loads its tables
            found[name] = {"cold_s": times(work, these, min(limit_s, c.left_s()))}
            c.say(f"{name}: {len(found[name]['cold_s'])} kernels, median "
                  f"{statistics.median(found[name]['cold_s']):.3f} s")
        except (ScientistError, ValueError, OSError, RuntimeError, ImportError) as error:
            found[name] = {"failed": f"{type(error).__name__}: {str(error)[-600:]}"}
            c.say(f"{name} failed: {found[name]['failed']}")
        c.save(found)

    try:
        found["ours"] = ours(c, these)
        c.say(f"ours: median {statistics.median(found['ours']['cold_s']):.4f} s, {found['ours']['compiler']}")
    except (ScientistError, ValueError, OSError) as error:
        found["ours"] = {"failed": str(error)}
        c.say(f"ours failed: {error}")
    c.save(found)
    others("nvrtc", lambda: plain(find_compiler()), 60.0)
    others("nvcc", lambda: plain(Nvcc()), NVCC_S)
    others("load_inline", inline, INLINE_S)
    c.say("done")
    return 0


def figures(stored: Mapping[str, Any]) -> list[Figure]:
    """Ours beside each other way; a way that failed has no figure."""
    from benchmarks.figure import Figure

    mine = stored["ours"]
    median = statistics.median(mine["cold_s"])
    made = [Figure("compile_rate.median", 1e3 * median, "ms", "the slowest twentieth",
                   1e3 * quantile(mine["cold_s"], 0.95), "", FILE)]
    for name, words, goal in (("nvrtc", "NVRTC in process", ""), ("nvcc", "nvcc -cubin", ">= 4"),
                              ("load_inline", "load_inline of PyTorch", ">= 100")):
        if cold := stored.get(name, {}).get("cold_s"):
            theirs = statistics.median(cold)
            made.append(Figure(f"compile_rate.faster_than_{name}", theirs / median, "times",
                               f"{words}, median of {len(cold)}: {theirs:.3g} s; ours", 1.0, goal, FILE))
    cached = 1e3 * statistics.median(mine["cached_s"])
    return [*made,
            Figure("compile_rate.cached", cached, "ms", "not cached", 1e3 * median, "<= 1", FILE),
            Figure("compile_rate.on_two_cores", mine["two_cores_right"] / mine["two_cores_s"], "kernels/s",
                   "one after the other, one worker", 1.0 / statistics.mean(mine["cold_s"]), "", FILE)]


def main(words: Sequence[str]) -> int:
    """Collect, or print what was collected."""
    if words and not words[0].startswith("-"):
        return collect(Path(words[0]), number(words, "--seconds", 290.0))
    from app.screen import say
    from benchmarks.figure import report

    stored = measured(FILE, "python3 -m benchmarks.compile_rate OUT")
    about = stored["about"]
    say(f"Measured: {about['device']}, driver {about['driver']}, {about['date']}; {stored['ours']['compiler']}; "
        f"{stored['kernels']} distinct kernels for sm_90a.")
    for name in ("nvrtc", "nvcc", "load_inline"):
        if failed := stored.get(name, {}).get("failed"):
            say(f"{name} did not run: {failed}")
    return report("Compiling for the H200", figures(stored))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
