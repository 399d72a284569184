"""Builds the lab's own runtime, once for each version of its sources and of the compiler."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path

from records.errors import LabError
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.process import ProcessLimits, run

FOLDER = Path(__file__).parents[1] / "runtime"
INCLUDE = Path(__file__).parents[2] / "include"
FLAGS = (
    "-std=c++20",
    "-target",
    "x86_64-linux-musl",
    "-O3",
    "-march=x86_64_v3",
    "-ffp-contract=fast",
    "-fno-exceptions",
    "-fno-rtti",
    "-nostdinc++",
    "-fno-sanitize=all",
    "-fno-stack-protector",
    "-fno-pic",
    "-fomit-frame-pointer",
    "-ftls-model=local-exec",
    "-Wall",
)
_LIMITS = ProcessLimits(cpu_s=300, file_bytes=1 << 30)


def sources() -> tuple[Path, ...]:
    """Everything the runtime is made of."""
    return (*sorted(FOLDER.glob("*.cpp")), *sorted(FOLDER.glob("*.h")), INCLUDE / "ks_lab" / "calls.h")


def identity(toolchain: Toolchain) -> str:
    """SHA-256 of the runtime's sources, flags and compiler."""
    digest = hashlib.sha256(repr((FLAGS, toolchain.version)).encode())
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def objects(toolchain: Toolchain, cache: Path) -> tuple[Path, ...]:
    """The runtime's object files, built now if they are not in the cache. LabError when they cannot be built."""
    folder = cache / "lab" / f"runtime-{identity(toolchain)[:24]}"
    if not folder.is_dir():
        folder.parent.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(dir=folder.parent))
        try:
            for source in FOLDER.glob("*.cpp"):
                _compile(toolchain, source, work / f"{source.stem}.o")
            os.rename(work, folder)  # noqa: PTH104 - fails where another process was first, replace() would not
        except OSError:
            if not folder.is_dir():
                raise LabError(
                    f"the lab's runtime cannot be stored in {folder.parent}; "
                    "set KERNEL_SCIENTIST_CACHE_FOLDER to another place"
                ) from None
        finally:
            shutil.rmtree(work, ignore_errors=True)
    return tuple(sorted(folder.glob("*.o")))


def _compile(toolchain: Toolchain, source: Path, target: Path) -> None:
    argv = toolchain.command("c++", *FLAGS, "-I", str(INCLUDE), "-c", str(source), "-o", str(target))
    done = run(argv, cwd=FOLDER, env=toolchain.environment(), timeout_s=300, limits=_LIMITS)
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message")[:400]
        raise LabError(f"the lab's runtime does not compile ({source.name}: {said}); reinstall the pinned compiler")
