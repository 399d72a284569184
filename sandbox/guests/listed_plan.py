"""A plan's launches, each with the listing of its code, in whatever language the candidate is written.

HIP and assembly give one listing for all launches of a choice of tunables. Triton gives one for each specialisation,
which a case's constants decide. The judge's own fills and copies are HIP everywhere.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from records.errors import PlanError
from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.candidate.diagnostics import refusal
from sandbox.candidate.kernel import KernelMetadata
from sandbox.candidate.limits import check_arguments, check_limits, find_kernel
from sandbox.candidate.plan import COPY, FILL, Candidate, Launch, Plan
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedLaunch, ResolvedPlan
from sandbox.guests.assembler import Assembler
from sandbox.guests.merged_listing import merged
from sandbox.guests.triton_compiler import TritonCompiler
from sandbox.guests.triton_job import buffers_of, job_of
from tasks.task import Case

_STEPS = "#include <hip/hip_runtime.h>\n"


@dataclass(frozen=True)
class ListedLaunch:
    """One launch, as its code takes it: without arguments that became constants, with the LDS that it asks for."""

    launch: ResolvedLaunch
    compilation: Compilation

    @property
    def kernel(self) -> KernelMetadata:
        """The kernel in the compilation."""
        kernel = find_kernel(self.launch.kernel, self.compilation.kernels)
        assert kernel is not None  # the plan was checked against the compilation
        return kernel


@dataclass(frozen=True)
class ListedPlan:
    """All launches of one case in order; none where there are findings."""

    launches: tuple[ListedLaunch, ...] = ()
    findings: tuple[Finding, ...] = ()
    notes: tuple[tuple[int, str], ...] = ()  # line of the file, and what was left out there

    workspaces: Mapping[str, tuple[str, tuple[int, ...]]] = field(default_factory=dict)

    @property
    def compilations(self) -> tuple[Compilation, ...]:
        """Each compilation once, in the order of its first launch."""
        by_listing = {listed.compilation.listing: listed.compilation for listed in self.launches}
        return tuple(by_listing.values())

    def merged(self) -> tuple[Compilation, ResolvedPlan]:
        """Merge all launches into one compilation, in which kernels of the same name have got names of their own."""
        compilation, names = merged(self.compilations)
        by_listing = {
            listed.listing: kernel_names for listed, kernel_names in zip(self.compilations, names, strict=True)
        }
        launches = (
            replace(listed.launch, kernel=by_listing[listed.compilation.listing][listed.kernel.name])
            for listed in self.launches
        )
        return compilation, ResolvedPlan(tuple(launches), self.workspaces)


class PlanCompiler:
    """Compiles candidates of every language for the target of a compiler."""

    def __init__(self, compiler: Compiler, cache: Path) -> None:
        """`cache` may be shared by any number of processes."""
        self._compiler = compiler
        self._triton = TritonCompiler(compiler.toolchain, cache, compiler.target)
        self._assembler = Assembler(compiler.toolchain, cache, compiler.target)

    def compile(self, prepared: Prepared, case: Case, *, is_assembled: bool = False) -> ListedPlan:
        """Compile the launches of a case; findings where the source or the plan's arguments are refused.

        `is_assembled`: code objects as well, of HIP sources only. PlanError where the case has no plan.
        """
        plan = prepared.plan(case)
        if prepared.candidate.language == "triton":
            return self._checked(plan, self._of_triton(prepared, case, plan))
        compilation = (
            self.assembled(prepared.candidate)
            if prepared.candidate.language == "assembly"
            else self._compiler.compile(prepared.candidate, prepared.tunables, is_assembled=is_assembled)
        )
        if not compilation.ok:
            return ListedPlan(findings=compilation.findings)
        is_hip = prepared.candidate.language == "hip"
        steps = None if is_hip else self._steps(plan)
        listed = tuple(ListedLaunch(x, steps if steps and _is_step(x) else compilation) for x in plan.launches)
        return self._checked(plan, ListedPlan(listed))

    def assembled(self, candidate: Candidate) -> Compilation:
        """Compile an assembly file, which needs no case."""
        return self._assembler.compile(candidate)

    def _of_triton(self, prepared: Prepared, case: Case, plan: ResolvedPlan) -> ListedPlan:
        buffers = buffers_of(prepared.task, case, plan)
        steps, listed, notes = self._steps(plan), list[ListedLaunch](), dict[tuple[int, str], None]()
        for launch in plan.launches:
            if steps and _is_step(launch):
                listed.append(ListedLaunch(launch, steps))
                continue
            try:
                triton_kernel = self._triton.compile(prepared.candidate, job_of(launch, buffers))
            except PlanError as error:
                return ListedPlan(findings=(refusal(str(error), error.line, "B.4"),))
            if not triton_kernel.compilation.ok:
                findings = tuple(
                    f if f.line else replace(f, line=launch.line) for f in triton_kernel.compilation.findings
                )
                return ListedPlan(findings=findings)
            arguments = tuple(launch.args[number] for number in triton_kernel.kept)
            notes |= dict.fromkeys(triton_kernel.notes)
            specialised = replace(launch, args=arguments, lds_bytes=triton_kernel.lds_bytes)
            listed.append(ListedLaunch(specialised, triton_kernel.compilation))
        return ListedPlan(tuple(listed), notes=tuple(notes))

    def _steps(self, plan: ResolvedPlan) -> Compilation | None:
        """Compile the judge's own kernels that a plan launches; None where it launches none."""
        used = sorted({launch.kernel for launch in plan.launches if _is_step(launch)})
        if not used:
            return None
        launches = tuple(Launch(name, ("1",), ("1",), "0", (), 1) for name in used)
        digest = hashlib.sha256(" ".join(used).encode()).hexdigest()
        return self._compiler.compile(Candidate(digest, _STEPS, Plan(launches)), {}, is_assembled=False)

    def _checked(self, plan: ResolvedPlan, listed: ListedPlan) -> ListedPlan:
        """Return the plan, or the findings of its arguments and sizes against the code and the target."""
        findings = list[Finding]()
        for listed_launch in listed.launches:
            alone, kernels = ResolvedPlan((listed_launch.launch,), plan.workspaces), listed_launch.compilation.kernels
            findings += check_arguments(alone, kernels)
            findings += check_limits(alone, self._compiler.target, kernels)
        if findings:
            return ListedPlan(findings=tuple(dict.fromkeys(findings)))
        return replace(listed, workspaces=plan.workspaces)


def _is_step(launch: ResolvedLaunch) -> bool:
    return launch.kernel in (FILL, COPY)
