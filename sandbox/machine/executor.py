"""The interpreter as a program: built once for each version of its sources, the compiler and the processor's kind."""

from __future__ import annotations

import functools
import hashlib
import os
import platform
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from records import scratch_folder
from records.disk_room import full_disk
from records.errors import DiskFull, LabError
from sandbox.amdgcn.toolchain import MOST_BUILT, STATIC, Toolchain
from sandbox.process import ProcessLimits, last_words, run

FOLDER = Path(__file__).parent / "interpreter"
FLAGS = (
    "-std=c++20",
    "-O3",
    "-ffp-contract=off",  # a multiplication and an addition of the program are two roundings
    "-fno-exceptions",
    "-fno-rtti",
    "-nostdinc++",
    "-fno-sanitize=all",
    "-fno-stack-protector",
    "-fomit-frame-pointer",
    "-g0",
    "-Wall",
    "-Wextra",
)
# The kinds of x86 processors that have a program of their own, best first: what /proc/cpuinfo must name, the compiler's
# name of it.
LEVELS = (
    (("avx512f", "avx512bw", "avx512dq", "avx512vl", "avx512cd", "avx2", "fma", "bmi2", "f16c"), "x86_64_v4"),
    (("avx2", "fma", "bmi2", "f16c"), "x86_64_v3"),
)
_LIMITS = ProcessLimits(cpu_s=600, file_bytes=1 << 30)
_TIMEOUT_S = 600.0
_PROGRAM, _OBJECTS = "executor", "objects"


def sources() -> tuple[Path, ...]:
    """List the files that the interpreter is made of."""
    return (*sorted(FOLDER.glob("*.cpp")), *sorted(FOLDER.glob("*.h")))


def level(cpuinfo: Path = Path("/proc/cpuinfo")) -> str:
    """Name the best kind of code that this machine's processor runs, in the compiler's words."""
    if platform.machine() != "x86_64":
        return "baseline"
    try:
        text = cpuinfo.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return "x86_64"
    flags = next((line.split(":")[1].split() for line in text.split("\n") if line.startswith("flags")), [])
    return next((name for required, name in LEVELS if set(required) <= set(flags)), "x86_64")


@functools.cache
def identity(toolchain: Toolchain) -> str:
    """Digest the interpreter's sources, flags, compiler and kind of processor."""
    digest = hashlib.sha256(repr((FLAGS, STATIC, toolchain.version, platform.machine(), level())).encode())
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def executor_path(toolchain: Toolchain, cache: Path) -> Path:
    """Give the path that the interpreter has in this cache once it is built."""
    return cache / "machine" / f"interpreter-{identity(toolchain)[:24]}" / _PROGRAM


def executor(toolchain: Toolchain, cache: Path, progress: Callable[[str], None] | None = None) -> Path:
    """Give the interpreter's path; build it first where the cache has none. LabError when it cannot be built."""
    path = executor_path(toolchain, cache)
    if not path.is_file():
        if progress:
            progress("building the interpreter of gfx942 code")
        _build(toolchain, path)
    return path


def _build(toolchain: Toolchain, path: Path) -> None:
    path.parent.parent.mkdir(parents=True, exist_ok=True)
    work = scratch_folder.make_in(path.parent.parent)
    target = f"{platform.machine()}-linux-musl"
    march = () if level() == "baseline" else (f"-march={level()}",)
    try:
        units = sorted(FOLDER.glob("*.cpp"))

        def compile_unit(unit: Path) -> None:
            argv = ("c++", "-target", target, *march, *FLAGS, "-c", str(unit), "-o", f"{unit.stem}.o")
            _run(toolchain, work, argv, unit.name)

        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            list(pool.map(compile_unit, units))
        objects = [f"{unit.stem}.o" for unit in units]
        _run(toolchain, work, ("cc", "-target", target, *STATIC, *objects, "-o", _PROGRAM), "the link")
        (work / _PROGRAM).chmod(0o500)
        if status := run(
            [str(work / _PROGRAM), "semantics"], cwd=work, env={}, timeout_s=60, limits=_LIMITS
        ).returncode:
            raise LabError(f"the interpreter that was built here does not start (status {status})")
        for name in objects:
            (work / name).unlink()
        scratch_folder.remove(work / _OBJECTS)
        os.rename(work, path.parent)  # noqa: PTH104 - fails where another process was first, replace() would not
    except OSError:
        if not path.is_file():
            raise LabError(
                f"the interpreter cannot be stored in {path.parent.parent}; "
                "set KERNEL_SCIENTIST_CACHE_FOLDER to another place"
            ) from None
    finally:
        scratch_folder.remove(work)


def _run(toolchain: Toolchain, work: Path, argv: Sequence[str], step: str) -> None:
    # A compiler that was killed may leave its cache with the name of an object that is not there, which stays so.
    env = {**toolchain.environment(), "ZIG_LOCAL_CACHE_DIR": str(work / _OBJECTS)}
    command, stop = toolchain.command(*argv), toolchain.stop
    completed = run(command, cwd=work, env=env, timeout_s=_TIMEOUT_S, limits=_LIMITS, stop=stop)
    if completed.returncode != 0:
        if full := full_disk([work, toolchain.cache], MOST_BUILT):
            raise DiskFull(f"{full}, and the interpreter is built there")
        message = last_words(completed.stderr, 400) or "no message"
        raise LabError(f"the interpreter does not compile ({step}: {message}); reinstall the pinned compiler")
