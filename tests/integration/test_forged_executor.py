"""The executor's process is another program, which answers anything: nothing but right outputs is accepted."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from records.errors import LabError
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import STATIC
from sandbox.candidate.prepare import prepare
from sandbox.lab.build import executor
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_verify import Built, Judge, Patience
from sandbox.process import ProcessLimits, run
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.lab_bench import lab

TASK = Path(__file__).parents[1] / "kernels" / "exploits" / "tasks" / "scale"
SOURCE = Path(__file__).with_name("forged_executor.cpp")
RIGHT = ("right", "right-without-masks", "odd-masks")  # the outputs are, so it may be accepted
WRONG = (
    *("untouched", "poison", "poison-masks-set", "zeros", "half", "half-masked", "all-but-one", "wrong-values"),
    *("fewer", "none-executed", "more", "negative", "huge", "fraction", "nan", "timed-out", "words", "one-more-launch"),
    *("unknown-finding", "wild-region", "wild-detail", "garbage", "deep", "large", "cut", "empty-object", "list"),
    *("short-memory", "long-memory", "no-masks", "fifo-result", "fifo-memory", "symlink-result", "symlink-memory"),
    *("linked-memory", "gone-result", "gone-masks", "exit", "status", "crash", "crash-later"),
    pytest.param("hang", marks=pytest.mark.long),  # for the ten seconds that an executor may stand idle
)


@cache
def built() -> Built:
    task = load_task(TASK)
    prepared = prepare(task.seeds[0].read_text(encoding="utf-8"), task)
    compilation = Compiler(toolchain(), COMPILED, load_target("mi300x")).compile(prepared.candidate, prepared.tunables)
    program = lab().build(prepared.candidate, prepared.tunables)
    assert isinstance(program, LabProgram)
    return Built(prepared, compilation, program)


@pytest.fixture(scope="module")
def forger(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("forger")
    request = executor.FOLDER / "request.cpp"
    argv = ["c++", "-target", "x86_64-linux-musl", *STATIC, "-std=c++20", "-fno-exceptions", "-fno-rtti", "-nostdinc++"]
    done = run(
        toolchain().command(*argv, "-I", str(executor.FOLDER), str(SOURCE), str(request), "-o", "forger"),
        cwd=folder,
        env=toolchain().environment(),
        timeout_s=600.0,
        limits=ProcessLimits(cpu_s=600, file_bytes=1 << 30),
    )
    assert done.returncode == 0, done.stderr
    return (folder / "forger").read_bytes()


def verdict(forger: bytes, forgery: str, folder: Path) -> str:
    path = folder / "program"
    assert forger.count(b"FORGERY=right ") == 1
    path.write_bytes(forger.replace(b"FORGERY=right".ljust(32), f"FORGERY={forgery}".encode().ljust(32)))
    path.chmod(0o500)
    forged = replace(built(), program=replace(built().program, path=str(path)))
    judge = Judge(lab(), forged, Patience(deadline_s=0.5))
    case = built().prepared.task.tests[0]
    try:
        row, findings = judge.run(case)
    except LabError:
        return "machine"
    return "accepted" if row.correct and not findings else "rejected"


def test_the_real_executor_is_accepted() -> None:
    row, findings = Judge(lab(), built()).run(built().prepared.task.tests[0])
    assert row.correct and findings == ()


@pytest.mark.parametrize("forgery", RIGHT)
def test_right_outputs_may_be_accepted(forger: bytes, forgery: str, tmp_path: Path) -> None:
    assert verdict(forger, forgery, tmp_path) == "accepted"


@pytest.mark.parametrize("forgery", WRONG)
def test_nothing_else_is(forger: bytes, forgery: str, tmp_path: Path) -> None:
    assert verdict(forger, forgery, tmp_path) in ("rejected", "machine")
