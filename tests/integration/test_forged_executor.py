"""The executor's process is another program, which answers anything: nothing but right outputs is accepted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path

import pytest

from records.errors import LabError, NoAnswer
from sandbox.amdgcn.compiler import Compiler
from sandbox.candidate.prepare import prepare
from sandbox.lab.execution_place import executor_view
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_verify import Built, Judge, Patience
from sandbox.lab.machine_lab import MachineLab
from sandbox.process import Completed, ProcessLimits, run
from sandbox.target import load_target
from tasks.loader import load_task
from tests.support.compiler_cache import COMPILED, toolchain
from tests.support.interpreter_program import interpreter_program
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


class ForgedLab(MachineLab):
    """A lab whose executor is this program."""

    forged = Path()

    def _run(self, argv: Sequence[str | Path], limits: ProcessLimits) -> Completed:
        image, folder, *stored = (Path(word) for word in argv)
        words = [str(self.forged), *map(str, argv)]
        view = executor_view(self.forged, folder, image, *stored)
        return run(words, cwd=folder, env={}, limits=limits, cage=toolchain().cage, view=view)


@cache
def forged_lab() -> ForgedLab:
    return ForgedLab(toolchain(), COMPILED, load_target("mi300x"), cores=2)


@pytest.fixture(scope="module")
def forger() -> bytes:
    return interpreter_program(SOURCE, ("request",)).read_bytes()


def verdict(forger: bytes, forgery: str, folder: Path) -> str:
    path = folder / "program"
    assert forger.count(b"FORGERY=right ") == 1
    path.write_bytes(forger.replace(b"FORGERY=right".ljust(32), f"FORGERY={forgery}".encode().ljust(32)))
    path.chmod(0o500)
    forged_lab().forged = path
    judge = Judge(forged_lab(), built(), Patience(deadline_s=0.5))
    case = built().prepared.task.tests[0]
    try:
        row, findings = judge.run(case)
    except (LabError, NoAnswer):
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
