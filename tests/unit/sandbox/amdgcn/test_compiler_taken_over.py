"""A compiler that does a candidate's bidding: whatever it leaves, the candidate has no answer and the run goes on."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path

import pytest

from records.errors import NoAnswer
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import STATIC, Toolchain
from sandbox.cage.confinement import Cage
from sandbox.candidate.plan import Candidate, Plan
from sandbox.lab.machine_lab import MachineLab
from sandbox.machine.executor import executor, identity
from sandbox.machine.instrumented.instrumented_build import InstrumentedBuild
from sandbox.target import load_target
from tests.support.compiler_cache import COMPILED, toolchain

TAKEN_OVER = r"""
#include <stdio.h>
#include <string.h>
int main(int count, char **words) {
    if (count < 4) return printf("clang version 22.1.8\n") < 0;
    for (int i = 1; i + 1 < count; ++i) {
        FILE *file = strcmp(words[i], "-o") == 0 && LEAVES ? fopen(words[i + 1], "w") : NULL;
        if (file) fputs("\xff\x00 no listing, no text, no object", file), fclose(file);
    }
    return 0;
}
"""
SOURCE = 'extern "C" __attribute__((global)) void k(float* x) { x[0] = 1; }\n'


class TakenOver(Toolchain):
    """A toolchain of this compiler, in the cage that the real one built."""

    @cached_property
    def cage(self) -> Cage:
        return toolchain().cage

    @cached_property
    def version(self) -> str:
        return "taken over"


def taken_over(folder: Path, *, leaves: bool) -> Toolchain:
    """A toolchain whose compiler does nothing that it is asked for."""
    real, zig = toolchain(), folder / "zig"
    (folder / "zig.c").write_text(TAKEN_OVER.replace("LEAVES", str(int(leaves))))
    argv = real.command("cc", "-target", "x86_64-linux-musl", *STATIC, "zig.c", "-o", str(zig))
    real.build(argv, folder, real.environment(), "build a false compiler")
    (folder / "lib").symlink_to(real.zig.parent / "lib")
    return TakenOver(zig, folder / "caches")


@pytest.mark.parametrize("leaves", [False, True])
def test_what_it_leaves_is_no_answer(tmp_path: Path, leaves: bool) -> None:
    false = taken_over(tmp_path, leaves=leaves)
    candidate = Candidate(hashlib.sha256(SOURCE.encode()).hexdigest(), SOURCE, Plan(()))
    lab = MachineLab(false, tmp_path / "cache", load_target("mi300x"))
    if leaves:
        build = lab.build(candidate, {})
        assert isinstance(build, tuple) and build[0].kind == "compile_error"
        assert Compiler(false, tmp_path / "cache", load_target("mi300x")).compile(candidate, {}).findings == build
    else:
        with pytest.raises(NoAnswer):
            Compiler(false, tmp_path / "cache", load_target("mi300x")).compile(candidate, {})
        with pytest.raises(NoAnswer):
            lab.build(candidate, {})
        with pytest.raises(NoAnswer):
            InstrumentedBuild(false, tmp_path / "cache").build(candidate, {})


def test_code_with_probes_that_cannot_be_read_leaves_the_candidate_without_them(tmp_path: Path) -> None:
    false = taken_over(tmp_path, leaves=True)
    candidate = Candidate(hashlib.sha256(SOURCE.encode()).hexdigest(), SOURCE, Plan(()))
    folder = tmp_path / "cache" / "machine" / f"interpreter-{identity(false)[:24]}"
    folder.parent.mkdir(parents=True)
    folder.symlink_to(executor(toolchain(), COMPILED).parent)  # the false compiler does not build one that starts
    assert MachineLab(false, tmp_path / "cache", load_target("mi300x"))._instrument(candidate, {}) is None
