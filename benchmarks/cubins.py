"""Specimens as cubins: compiled in parallel, named by their place so that a profiler's rows can be distinguished."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

from benchmarks.specimens import Specimen
from records.errors import ToolchainError
from sandbox.gpu.compile.dialect import headers, translate
from sandbox.gpu.compile.nvrtc import Nvcc, find_compiler

ARCH = "sm_90a"


def symbol(specimen: Specimen, index: int) -> str:
    """Name the kernel in the cubin."""
    return f"k{index:03d}_{specimen.plan.launches[0].kernel}"


def compile_one(specimen: Specimen, index: int, folder: str, plain: bool = False) -> str:
    """Compile one specimen into FOLDER/INDEX.cubin; the compiler's log where it fails, else empty.

    `plain` takes nvcc, in a process of its own.
    """
    kernel = specimen.plan.launches[0].kernel
    options = [f"-D{kernel}={symbol(specimen, index)}", *(f"-D{n}={v}" for n, v in specimen.chosen.items())]
    try:
        compiler = Nvcc() if plain else find_compiler()
        made = compiler.compile(translate(specimen.candidate.source), "candidate.cu", ARCH, options, headers())
    except ToolchainError as error:
        return str(error)
    if made.cubin is None:
        return made.log or "the compiler failed without a message"
    Path(folder, f"{index}.cubin").write_bytes(made.cubin)
    return ""


def compile_all(specimens: Sequence[Specimen], folder: Path, workers: int | None = None) -> dict[str, str]:
    """Compile all; logs of those that failed, by name. Also left in FOLDER/failed.json."""
    folder.mkdir(parents=True, exist_ok=True)
    width, count = workers or min(16, os.cpu_count() or 1), len(specimens)
    try:
        with ProcessPoolExecutor(width) as pool:
            logs = list(pool.map(compile_one, specimens, range(count), [str(folder)] * count))
    except BrokenProcessPool:  # the library has crashed; the compiler as a program may not
        with ThreadPoolExecutor(width) as threads:
            logs = list(threads.map(compile_one, specimens, range(count), [str(folder)] * count, [True] * count))
    failed = {s.name: log[:2000] for s, log in zip(specimens, logs, strict=True) if log}
    (folder / "failed.json").write_text(json.dumps(failed, indent=1), encoding="utf-8")
    return failed
