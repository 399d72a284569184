"""The stages of one candidate before it is executed: compiled, or only listed, then decoded to a program."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field, replace

from records.evaluation import Evaluation, Finding
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.candidate.codes import rejected
from sandbox.candidate.limits import check_arguments, check_limits, resources_of
from sandbox.candidate.prepare import Prepared
from sandbox.lab.lab import Lab
from sandbox.lab.lab_verify import Built
from sandbox.target import Target


@dataclass(frozen=True)
class CompiledStage:
    """A candidate's evaluation so far, and its compilation where neither the compiler nor the plan's checks object."""

    evaluation: Evaluation
    compilation: Compilation | None = None


@dataclass(frozen=True)
class ProgramStage:
    """A candidate's evaluation so far, and what can be executed where nothing objects."""

    evaluation: Evaluation
    built: Built | None = None


@dataclass
class CandidateStages:
    """One candidate in the lab. Each stage is computed once, by the first thread that asks for it."""

    prepared: Prepared
    begun: Evaluation
    compiler: Compiler
    lab: Lab
    target: Target
    compilations: dict[bool, CompiledStage] = field(default_factory=dict)  # by whether there is a code object
    programs: dict[bool, ProgramStage] = field(default_factory=dict)
    verdict: Evaluation | None = None
    lock: threading.RLock = field(default_factory=threading.RLock)

    def compiled(self, *, is_assembled: bool = True) -> CompiledStage:
        """Compile for the GPU. Without a code object only the listing is made, which is enough for a time."""
        with self.lock:
            stage = self.compilations.get(True) or self.compilations.get(is_assembled)
            if stage is None:
                compilation = None
                if self.prepared.refusal is None:
                    chosen = self.prepared.tunables
                    compilation = self.compiler.compile(self.prepared.candidate, chosen, is_assembled=is_assembled)
                stage = self.compilations[is_assembled] = self._checked(compilation)
            return stage

    def program(self, *, is_assembled: bool = True) -> ProgramStage:
        """Decode the listing for the lab."""
        with self.lock:
            stage = self.programs.get(True) or self.programs.get(is_assembled)
            if stage is None:
                stage = self.programs[is_assembled] = self._decoded(self.compiled(is_assembled=is_assembled))
            return stage

    def _checked(self, compilation: Compilation | None) -> CompiledStage:
        if compilation is None:
            return CompiledStage(self.begun)
        evaluation = replace(
            self.begun,
            resources=resources_of(compilation.kernels, self.target, self.prepared.plans),
            code_object=compilation.code_object,
        )
        if findings := compilation.findings if not compilation.ok else self._mismatches(compilation):
            return CompiledStage(replace(evaluation, verdict=rejected("compile", findings)))
        return CompiledStage(evaluation, compilation)

    def _mismatches(self, compilation: Compilation) -> tuple[Finding, ...]:
        """List the contradictions between the code object's metadata and the plan on any listed case; each once."""
        plans = self.prepared.plans
        findings = [*check_arguments(plans[0], compilation.kernels)]  # which are the same on every case
        findings += [f for plan in plans for f in check_limits(plan, self.target, compilation.kernels)]
        return tuple(dict.fromkeys(findings))

    def _decoded(self, compiled: CompiledStage) -> ProgramStage:
        if compiled.compilation is None:
            return ProgramStage(compiled.evaluation)
        program = self.lab.decoded(self.prepared.candidate, self.prepared.tunables, compiled.compilation)
        if isinstance(program, tuple):
            return ProgramStage(replace(compiled.evaluation, verdict=rejected("compile", program)))
        return ProgramStage(compiled.evaluation, Built(self.prepared, compiled.compilation, program))
