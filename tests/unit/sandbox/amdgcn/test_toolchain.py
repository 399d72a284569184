from __future__ import annotations

import os
import re
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from records.errors import ToolchainError
from sandbox.amdgcn.toolchain import Toolchain, find_toolchain
from tests.support.compiler_cache import toolchain

ROOT = Path(__file__).resolve().parents[4]


def test_finds_the_compiler_and_its_versions(tmp_path: Path) -> None:
    toolchain = find_toolchain(tmp_path)
    assert os.access(toolchain.zig, os.X_OK)
    assert re.fullmatch(r"zig \d+\.\d+\.\d+ clang \d+\.\d+\.\d+", toolchain.version)


def test_the_set_up_builds_the_library_before_any_other_package_is_there(tmp_path: Path) -> None:
    program = (ROOT / "kernel-scientist").read_text(encoding="utf-8").split("build_library='")[1].split("'")[0]
    ours, packages, cache = toolchain(), tmp_path / "packages", tmp_path / "toolchain"
    packages.mkdir()
    (packages / "ziglang").symlink_to(ours.zig.parent)
    cache.mkdir()
    (cache / "zig").symlink_to(ours.cache / "zig")
    words = [sys.executable, "-S", "-c", program, str(cache)]
    subprocess.run(words, cwd=ROOT, env={"PYTHONPATH": str(packages)}, check=True)
    assert subprocess.run([cache / "warm" / "hello"], capture_output=True, check=True).stdout == b"ready\n"


def test_a_compiler_is_asked_once_and_again_when_its_file_is_another(tmp_path: Path) -> None:
    program, log = tmp_path / "zig", tmp_path / "log"
    for version in ("1.2.3", "1.2.30"):
        words = f'echo "$1" >> {log}; case $1 in clang) echo clang version 4.5.6 ;; *) echo {version} ;; esac'
        program.write_text(f"#!/bin/sh\n{words}\n")
        program.chmod(stat.S_IRWXU)
        for cache in ("one", "other"):
            assert Toolchain(program, tmp_path / cache).version == f"zig {version} clang 4.5.6"
    assert log.read_text().split() == ["version", "clang"] * 2
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainError, match="cannot be written"):
        _ = Toolchain(program, tmp_path / "file" / "cache").version


def test_the_environment_holds_only_private_folders(tmp_path: Path) -> None:
    environment = find_toolchain(tmp_path).environment()
    assert set(environment) == {"HOME", "TMPDIR", "ZIG_GLOBAL_CACHE_DIR", "ZIG_LOCAL_CACHE_DIR"}
    assert all(Path(folder).is_dir() and tmp_path in Path(folder).parents for folder in environment.values())


def test_a_missing_compiler_tells_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(ToolchainError, match=r"cannot be started.*kernel-scientist"):
        _ = Toolchain(tmp_path / "zig", tmp_path / "cache").version


def test_a_broken_compiler_tells_the_remedy(tmp_path: Path) -> None:
    broken = tmp_path / "zig"
    broken.write_text("#!/bin/sh\necho broken >&2\nexit 1\n")
    broken.chmod(stat.S_IRWXU)
    with pytest.raises(ToolchainError, match=r"does not run \(broken\)"):
        _ = Toolchain(broken, tmp_path / "cache").version


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ToolchainError, match="set KERNEL_SCIENTIST_CACHE_FOLDER to another place"):
        find_toolchain(tmp_path / "file" / "cache").environment()


def test_warming_says_what_cannot_be_done(tmp_path: Path) -> None:
    broken = tmp_path / "zig"
    broken.write_text("#!/bin/sh\necho 'no such target' >&2\nexit 1\n")
    broken.chmod(stat.S_IRWXU)
    messages: list[str] = []
    with pytest.raises(ToolchainError, match=r"cannot link a static program \(no such target\)"):
        Toolchain(broken, tmp_path / "cache").warm(messages.append)
    assert messages == ["building the C library for the lab (about half a minute, once)"]
