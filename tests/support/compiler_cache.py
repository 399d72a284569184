"""The one compiler cache of all tests and of the processes they start: keyed by content, laid out as the application's.

Building the C library takes half a minute of both cores, building the interpreter as long. They are taken over from the
user's cache, which the set-up has warmed, or else built by the first test that needs the compiler, while the other test
processes wait.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from sandbox.amdgcn.toolchain import Toolchain, find_toolchain
from sandbox.machine.executor import executor, executor_path


def usable(preferred: Path, other: Path) -> Path:
    """The first of two folders, or the second where this user cannot write to the first, or make it."""
    existing = next(path for path in (preferred / "kernels", preferred, *preferred.parents) if path.exists())
    return preferred if os.access(existing, os.W_OK | os.X_OK, effective_ids=True) else other


# What KERNEL_SCIENTIST_CACHE_FOLDER is in the tests. A clone that another user has tested is this one's to read only.
FOLDER = usable(
    Path(__file__).resolve().parents[2] / ".cache" / "tests",
    Path(tempfile.gettempdir()).resolve() / f"kernel-scientist-tests-{os.geteuid()}",
)
COMPILED = FOLDER / "kernels"
_OWN = FOLDER / "toolchain"
_USERS = os.environ.get("KERNEL_SCIENTIST_CACHE_FOLDER", "")  # read before a test takes it away
_WITHHELD: list[bool] = []
NEEDED = "needs the compiler"


def withhold() -> None:
    """From now on a test that asks for the compiler is skipped: what is left runs in seconds."""
    _WITHHELD.append(True)


@cache
def toolchain() -> Toolchain:
    """The compiler with the shared cache, warmed."""
    if _WITHHELD:
        pytest.skip(NEEDED, allow_module_level=True)
    compiler = find_toolchain(_OWN)
    (FOLDER / "kernels").mkdir(parents=True, exist_ok=True)
    pruned = FOLDER / "kernels" / "pruned"  # never due: the next run of the tests finds all that this one compiled
    pruned.touch()
    os.utime(pruned, (2**32, 2**32))
    stamp = FOLDER / f"warmed-{compiler.zig.stat().st_mtime_ns}"
    FOLDER.mkdir(parents=True, exist_ok=True)
    with (FOLDER / "warmed.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not stamp.exists():
            _take_over(_users_cache() / "toolchain" / "zig", _OWN / "zig")
            compiler.warm(lambda _: None)
            stamp.touch()
        if not executor_path(compiler, COMPILED).is_file():
            _take_over(
                executor_path(compiler, _users_cache() / "kernels").parent, executor_path(compiler, COMPILED).parent
            )
            executor(compiler, COMPILED)
    return compiler


def _take_over(theirs: Path, ours: Path) -> None:
    """Give the files of a folder a second name where there are any, and none of ours."""
    if theirs.is_dir() and not ours.exists():
        ours.parent.mkdir(parents=True, exist_ok=True)
        part = ours.with_name(f"{ours.name}.part")
        shutil.rmtree(part, ignore_errors=True)
        shutil.copytree(theirs, part, copy_function=_link)
        part.rename(ours)


@contextlib.contextmanager
def taking_turns(digest: str) -> Iterator[None]:
    """Only one test process at a time makes what belongs to this digest."""
    folder = FOLDER / "turns"
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / digest[:2]).open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def share_toolchain(cache: Path) -> Path:
    """A new cache folder with the compiler's part and the interpreter, which take a minute of both cores to build."""
    for shared, name in ((_OWN, "toolchain"), (COMPILED / "machine", "kernels/machine")):
        shared.mkdir(parents=True, exist_ok=True)
        (cache / name).parent.mkdir(parents=True, exist_ok=True)
        (cache / name).symlink_to(shared)
    return cache


def _users_cache() -> Path:
    from app.settings import Settings  # here, because a GPU box that runs tests/gpu has no pydantic

    if _USERS:
        return Path(_USERS)
    folder: Path = Settings.model_fields["cache_folder"].get_default(call_default_factory=True)
    return folder


def _link(source: str, target: str) -> None:
    """A second name for the file, or a copy where the folders are on different file systems."""
    try:
        os.link(source, target)
    except OSError:
        shutil.copy2(source, target)
