"""A point's kernel in the lab: compiled, judged on its task's small cases, and its time predicted."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path

from app.settings import load_settings
from benchmarks.clock.points import Point
from records.evaluation import Measurement
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.toolchain import find_toolchain
from sandbox.candidate.prepare import Prepared, prepare
from sandbox.lab.lab import LabProgram
from sandbox.lab.lab_verify import Built, Judge
from sandbox.lab.machine_lab import MachineLab
from sandbox.lab.predict import predict
from sandbox.target import Target
from tasks.loader import load_task
from tasks.task import Task


class PointLab:
    """The lab for points; what fails is told in one sentence, since a kernel that cannot be judged is data."""

    def __init__(self, target: Target) -> None:
        """Open the lab of this machine's cache folder, for points that were measured on the target."""
        cache, self.target = load_settings().cache_folder, target
        chain = find_toolchain(cache / "toolchain")
        self.lab = MachineLab(chain, cache / "kernels", self.target)
        self.compiler = Compiler(chain, cache / "kernels", self.target)

    def built(self, source: str, task: Path) -> Built | str:
        """Return the compiled kernel, or why there is none."""
        return self.built_of(prepare(source, _task(task)))

    def built_of(self, prepared: Prepared) -> Built | str:
        """Return the same with a choice of tunables."""
        if prepared.refusal:
            return _refusal_text([f.message for f in prepared.refusal.findings] or [str(prepared.refusal.code)])
        compiled = self.compiler.compile(prepared.candidate, prepared.tunables)
        if not compiled.ok:
            return _refusal_text([f.message for f in compiled.findings])
        program = self.lab.build(prepared.candidate, prepared.tunables)
        if not isinstance(program, LabProgram):
            return _refusal_text([f.message for f in program])
        return Built(prepared, compiled, program)

    def fault(self, source: str, task: Path) -> str:
        """Find the first fault of the GPU's own code on the small cases of the task; empty for a right kernel."""
        return self.fault_of(prepare(source, _task(task)))

    def fault_of(self, prepared: Prepared) -> str:
        """Find the same with a choice of tunables.

        They count as held-out cases: listed ones are executed with probes first, which takes a longer compilation.
        """
        if isinstance(built := self.built_of(prepared), str):
            return built
        judge = Judge(self.lab, built)
        for case in built.prepared.task.tests:
            if findings := judge.run(replace(case, role="held_out"))[1]:
                return _refusal_text([findings[0].message])
        return ""

    def predicted(self, point: Point) -> Measurement | str:
        """Predict the time of the benchmark case, or say why there is none."""
        return self.predicted_of(prepare(point.kernel.read_text(encoding="utf-8"), _task(point.task)))

    def predicted_of(self, prepared: Prepared) -> Measurement | str:
        """Predict the same with a choice of tunables."""
        if isinstance(built := self.built_of(prepared), str):
            return built
        forecast = predict(self.lab, built, self.target, built.compilation.resources)
        return (
            forecast.measurements[0] if forecast.measurements else _refusal_text([f.message for f in forecast.findings])
        )


@lru_cache(maxsize=64)
def _task(folder: Path) -> Task:
    return load_task(folder)


def _refusal_text(messages: list[str]) -> str:
    return messages[0].splitlines()[0] if messages else "refused without a reason"
