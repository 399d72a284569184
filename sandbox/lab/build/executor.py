"""Builds the lab's own runtime, once for each version of its sources and of the compiler.

The linker is called directly for each candidate. The compiler's driver is asked for the command once, when the runtime
is built: it looks for the C library at each call, which takes longer than the link itself.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Sequence
from functools import cache
from pathlib import Path

from records import scratch_folder
from records.errors import LabError
from sandbox.amdgcn.toolchain import STATIC, Toolchain
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
    "-g0",
    "-Wall",
)
_DRIVER = ("cc", "-target", "x86_64-linux-musl", *STATIC)
_LIMITS = ProcessLimits(cpu_s=600, file_bytes=1 << 30)  # the first link of a cache builds the C library
_TIMEOUT_S = 600.0
_LINK = "link.json"
_OWN_CACHE = "compiler"


def sources() -> tuple[Path, ...]:
    """Everything the runtime is made of."""
    return (*sorted(FOLDER.glob("*.cpp")), *sorted(FOLDER.glob("*.h")), INCLUDE / "ks_lab" / "calls.h")


@cache
def identity(toolchain: Toolchain) -> str:
    """SHA-256 of the runtime's sources, flags and compiler."""
    digest = hashlib.sha256(repr((FLAGS, _DRIVER, toolchain.version)).encode())
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()


def folder(toolchain: Toolchain, cache: Path) -> Path:
    """The folder of the runtime's objects and of the C library, which the linker reads."""
    return cache / "lab" / f"runtime-{identity(toolchain)[:24]}"


def link_command(toolchain: Toolchain, cache: Path, candidate: str, program: str) -> list[str]:
    """The linker's arguments for one candidate's object; builds the runtime if the cache has none.

    LabError when it cannot be built.
    """
    place = folder(toolchain, cache)
    try:
        words = json.loads((place / _LINK).read_text(encoding="utf-8"))
    except OSError:
        words = _build(toolchain, place)
    places = {"OBJECT": candidate, "PROGRAM": program}
    return [str(place / word[1:]) if word.startswith("@") else places.get(word, word) for word in words]


def _build(toolchain: Toolchain, folder: Path) -> list[str]:
    folder.parent.mkdir(parents=True, exist_ok=True)
    work = scratch_folder.make_in(folder.parent)
    try:
        for source in sorted(FOLDER.glob("*.cpp")):
            argv = ["c++", *FLAGS, "-idirafter", str(INCLUDE), "-c", str(source), "-o", f"{source.stem}.o"]
            _run(toolchain, work, argv, source.name)
        words = _ask_driver(toolchain, work)
        (work / _LINK).write_text(json.dumps(words), encoding="utf-8")
        shutil.rmtree(work / _OWN_CACHE, ignore_errors=True)
        os.rename(work, folder)  # noqa: PTH104 - fails where another process was first, replace() would not
    except OSError:
        if not folder.is_dir():
            raise LabError(
                f"the lab's runtime cannot be stored in {folder.parent}; "
                "set KERNEL_SCIENTIST_CACHE_FOLDER to another place"
            ) from None
    finally:
        scratch_folder.remove(work)
    return words


def _ask_driver(toolchain: Toolchain, work: Path) -> list[str]:
    """The linker's command as the driver prints it: files of this folder begin with @, libraries are copied into it."""
    objects = sorted(path.name for path in work.glob("*.o"))
    command = _link_line(toolchain, work, objects) or _link_line(toolchain, work, objects)
    if not command:
        raise LabError("the compiler does not print its linker's command; reinstall the pinned compiler")
    words: list[str] = []
    for word in command:
        if word == objects[0]:
            words.append("OBJECT")  # before the runtime, behind the C library's start
        if word in objects:
            words.append(f"@{word}")
        elif word.endswith((".o", ".a")):
            shutil.copyfile(word, work / Path(word).name)
            words.append(f"@{Path(word).name}")
        elif word != "-s":  # the judge reads the symbols and the lines of a candidate
            words.append(word)
    (work / "PROGRAM").unlink()
    return [*words, "--threads=1"]  # more take longer to start than they save


def _link_line(toolchain: Toolchain, work: Path, objects: Sequence[str]) -> list[str]:
    """The words of the command; empty where it is lost among those that build a C library which is not there yet."""
    said = _run(toolchain, work, [*_DRIVER, *objects, "-o", "PROGRAM"], "the link")
    lines = (line.split() for line in said.split("\n") if line.startswith("ld.lld "))
    return next((words for words in lines if "PROGRAM" in words and objects[0] in words), [])


def _run(toolchain: Toolchain, work: Path, argv: Sequence[str], what: str) -> str:
    own = dict.fromkeys(("ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"), str(work / _OWN_CACHE))
    for caches in ({}, own):  # a cache of the compiler's own that names what it no longer holds would fail for ever
        environment = {**toolchain.environment(), **caches, "ZIG_VERBOSE_LINK": "1"}
        done = run(toolchain.command(*argv), cwd=work, env=environment, timeout_s=_TIMEOUT_S, limits=_LIMITS)
        if done.returncode == 0:
            break
    if done.returncode != 0:
        said = (done.stderr.strip() or "no message")[:400]
        raise LabError(f"the lab's runtime does not compile ({what}: {said}); reinstall the pinned compiler")
    return done.stderr
