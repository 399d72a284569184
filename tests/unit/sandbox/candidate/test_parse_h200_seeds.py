"""What is shipped for the H200 compiles for it, where NVIDIA's compiler is installed; no GPU is needed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from agents.playbook import moves
from agents.source import read
from records.errors import ToolchainError
from sandbox.candidate.parse import parse
from sandbox.candidate.resolve import choices, resolve
from sandbox.gpu.compile.gpu_compiler import GpuCompiler
from sandbox.target import load_target
from tasks.loader import load_task, task_names
from tasks.task import Task
from tests.support.compiler_cache import COMPILED

SEEDS = [(task, path) for task in (load_task(name, "h200") for name in task_names()) for path in task.seeds]
SHORT = ("row_softmax", "transpose", "bf16_gemm")  # rows, tiles, matrix cores
CHOICES = [pytest.param(*seed, marks=[] if seed[0].name in SHORT else [pytest.mark.long]) for seed in SEEDS]
FEWEST = (("transpose", "seed.hip"),)  # with two more, which cost three times as much, each kind of change is offered
PLAIN = [
    pytest.param(task, path, marks=[] if (task.name, path.name) in FEWEST else [pytest.mark.long])
    for task, path in SEEDS
    if path.name in ("seed.hip", "seed_tiled.hip")
]


def name(value: Task | Path) -> str:
    return value.name


@pytest.fixture(scope="module")
def compiler() -> Iterator[GpuCompiler]:
    gpu_compiler = GpuCompiler(load_target("h200"), COMPILED, workers=2)
    try:
        assert gpu_compiler.version
    except ToolchainError as error:
        pytest.skip(str(error))
    yield gpu_compiler
    gpu_compiler.close()


@pytest.mark.slow
@pytest.mark.parametrize(("task", "path"), CHOICES, ids=name)
def test_the_first_and_the_last_choice_of_every_seed_compile(task: Task, path: Path, compiler: GpuCompiler) -> None:
    candidate = parse(path.read_text(encoding="utf-8"))
    all_choices = choices(candidate, task)
    for chosen in dict.fromkeys(tuple(sorted(c.items())) for c in (all_choices[0], all_choices[-1])):
        build = compiler.compile(candidate, dict(chosen))
        assert build.findings == (), build.diagnostics
        assert build.check_arguments(resolve(candidate, task, task.benchmarks[0], dict(chosen))) == ()


@pytest.mark.slow
@pytest.mark.parametrize(("task", "path"), PLAIN, ids=name)
def test_every_change_that_the_playbook_offers_compiles(task: Task, path: Path, compiler: GpuCompiler) -> None:
    source = path.read_text(encoding="utf-8")
    names = frozenset({spec.name for spec in (*task.inputs, *task.outputs)} | set(task.tests[0].dims))
    handles = {h.split(":")[0]: h for h in moves.offers(read(source), "sm_90a", names)}
    assert {"launch_bounds", "nontemporal"} & set(handles)
    for handle in handles.values():
        candidate = parse(moves.apply(source, handle, "sm_90a", names))
        build = compiler.compile(candidate, candidate.defaults())
        assert build.findings == (), (handle, build.diagnostics)
