"""The lab whose executor is the machine: it runs the listing that the compiler made for the GPU."""

from __future__ import annotations

import math
import random
import struct
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from records.errors import LabError
from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compiler
from sandbox.amdgcn.listing import kernels_in
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.instances import instantiated
from sandbox.candidate.plan import Candidate
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.evidence import Evidence
from sandbox.lab import executor_request
from sandbox.lab.build.conditions import DataCondition
from sandbox.lab.build.lab_program import LabProgram, LdsVariable
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.executor_limits import device_words
from sandbox.lab.executor_request import NONE, ROLES, MemoryLayout, Work
from sandbox.lab.lab import Execution, ExecutionRequest, Lab, executor_view
from sandbox.machine.executor import executor
from sandbox.machine.instrumented.fault_probe import FaultProbe
from sandbox.machine.instrumented.instrumented_build import InstrumentedBuild
from sandbox.machine.kernarg import KernargLayout, pack
from sandbox.machine.machine_program import machine_program
from sandbox.machine.unreadable import UnreadableListing
from sandbox.process import Completed, ProcessLimits, run
from sandbox.recent import Recent
from sandbox.target import Target

MAGIC = 0x4B534D5245513031
_RANDOM = random.SystemRandom()
PROGRAMS = 64  # instrumented ones that are kept
_WAVE_BYTES = 400 << 10  # registers of a wave with what is defined of them, and its part of LDS


@dataclass(frozen=True)
class ListedProgram(LabProgram):
    """A program of the machine in the place of one for this processor."""

    image_path: str = ""
    numbers: Mapping[str, int] | None = None
    layouts: Mapping[str, KernargLayout] | None = None
    probes: tuple[FaultProbe, ...] = ()  # of an instrumented listing
    marks: tuple[int, ...] = ()  # instructions of the conditions
    text: tuple[Candidate, Mapping[str, int]] | None = None  # what it was made from


class MachineLab(Lab):
    """Executes the gfx942 code of candidates."""

    def __init__(
        self,
        toolchain: Toolchain,
        cache: Path,
        target: Target,
        cores: int | None = None,
        evidence: Evidence | None = None,
    ) -> None:
        """As the lab; the cache holds the interpreter and the images."""
        super().__init__(toolchain, cache, target, cores, evidence)
        self._compiler = Compiler(toolchain, cache, target, evidence)
        self._probing = InstrumentedBuild(toolchain, cache)
        self._instrumented: Recent[str, LabProgram | None] = Recent(PROGRAMS)
        self._instrumenting = threading.Lock()

    def warm(self) -> None:
        """Build the interpreter."""
        executor(self._toolchain, self._cache)

    def build(
        self,
        candidate: Candidate,
        tunables: Mapping[str, int],
        *,
        instrumented: bool = True,
        expressions: Mapping[str, str] | None = None,
        spent_s: float = 0.0,
    ) -> LabProgram | tuple[Finding, ...]:
        """Decode the listing of the candidate's compilation; findings where it does not compile or cannot be read."""
        compilation = self._compiler.compile(candidate, tunables, is_assembled=False)
        if not compilation.ok:
            return compilation.findings
        symbols = {name: kernel.symbol for kernel in compilation.kernels for name in (kernel.symbol, kernel.name)}
        return self._listed(compilation.listing, candidate, tunables, symbols)

    def execute(self, request: ExecutionRequest) -> Execution:
        """Run all launches in order; where probes are asked for, by a program with probes before."""
        probed = self._probed(request)
        if probed is not None:
            seen = super().execute(replace(request, program=probed, probes=False))
            if seen.findings:
                return seen
        return super().execute(request)

    def _probed(self, request: ExecutionRequest) -> LabProgram | None:
        """The instrumented program of a request that every workgroup takes part in; None where there is none."""
        program = request.program
        is_whole = not (request.count or request.blocks or any(request.workgroups)) and request.checks == "all"
        if not (request.probes and is_whole and isinstance(program, ListedProgram) and program.text):
            return None
        with self._instrumenting:
            return self._instrumented.get(program.path, lambda: self._instrument(*program.text))  # type: ignore[misc]

    def _instrument(self, candidate: Candidate, tunables: Mapping[str, int]) -> LabProgram | None:
        listed = self._probing.build(candidate, tunables)
        if listed.findings:
            return None  # the candidate compiles without probes, and is judged without them
        symbols = {kernel.symbol: kernel.symbol for kernel in kernels_in(listed.listing, SOURCE)}
        symbols |= {kernel.name: kernel.symbol for kernel in kernels_in(listed.listing, SOURCE)}
        symbols |= dict(listed.symbols)
        made = self._listed(listed.listing, candidate, tunables, symbols)
        return replace(made, probes=listed.probes, text=None) if isinstance(made, ListedProgram) else None

    def _listed(
        self, listing: str, candidate: Candidate, tunables: Mapping[str, int], symbols: Mapping[str, str]
    ) -> LabProgram | tuple[Finding, ...]:
        launched = [launch.kernel for launch in instantiated(candidate, tunables).plan.launches]
        made = self.program(listing, {name: symbols.get(name, "") for name in launched}, SOURCE)
        return replace(made, text=(candidate, tunables)) if isinstance(made, ListedProgram) else made

    def program(self, listing: str, symbols: Mapping[str, str], source_name: str) -> LabProgram | tuple[Finding, ...]:
        """Decode a listing of any language; `symbols` are of the kernels that a plan launches, by their names there."""
        try:
            program = machine_program(listing, self._cache / "machine" / "images", source_name)
        except UnreadableListing as refused:
            return (Finding("compile_error", str(refused), code="B.1"),)
        named = {name: symbol for name, symbol in symbols.items() if symbol}
        return ListedProgram(
            path=program.path,
            kernels={name: program.kernels[symbol] for name, symbol in named.items()},
            tls_bytes=0,
            tls_align=1,
            image=(0, 0),
            constants=(0, 0),
            variables=(0, 0),
            zeros=(0, 0),
            lds=(LdsVariable("LDS", 0, max(program.lds_bytes.values(), default=0)),),
            dynamic_lds_offset=max(program.lds_bytes.values(), default=0),
            lines=program.lines,  # type: ignore[arg-type]
            symbols=dict(symbols),
            image_path=program.path,
            numbers=dict(program.kernels),
            layouts={name: program.layouts[symbol] for name, symbol in named.items()},
            conditions=tuple(
                DataCondition(one.line, one.column, tuple(map(repr, one.numbers)), one.is_equality)
                for one in program.comparisons
            ),
            marks=tuple(one.instruction for one in program.comparisons if one.is_told),
        )

    @property
    def cache(self) -> Path:
        """The folder of what is kept between executions."""
        return self._cache

    def bare_work(self, deadline_s: float) -> Work:
        """Work of one thread that checks bounds and nothing else."""
        memory = self._target.memory
        return Work(
            blocks=(),
            recorded_blocks=0,
            workers=1,
            deadline_s=deadline_s,
            l1_lines=max(1, int(memory["l1_bytes"] // memory["line_bytes"])),
            line_bytes=int(memory["line_bytes"]),
            checks=0,
            device=device_words(self._target),
            phases=lane_groups(self._target.vendor, self._target.wave),
        )

    def recording(self, prepared: Prepared, program: LabProgram) -> LabProgram | None:
        """Record nothing: comparisons are not marked."""
        return None

    def _write(self, folder: Path, program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> None:
        assert isinstance(program, ListedProgram)
        executor_request._write_memory(folder / "memory.bin", layout)
        with (folder / "masks.bin").open("wb") as file:
            file.truncate(layout.masks)
        (folder / "result.json").touch()
        marks = () if work.recorded_blocks or not work.checks else program.marks
        words = [*_header(plan, layout, work, len(marks)), *struct.unpack("<64Q", work.phases or lane_groups())]
        for region in layout.regions:
            poison = int.from_bytes(region.poison, "little")
            place = region.file_offset, region.mask_offset, region.period, poison
            words += [ROLES[region.buffer.role], region.size, region.address, *place]
        seen = work.seen + bytes(-len(work.seen) % 8)
        words += [*chain(*work.surveyed), *struct.unpack(f"<{len(seen) // 8}Q", seen), *marks]
        words += _launches(program, plan, layout, work)
        (folder / "request.bin").write_bytes(struct.pack(f"<{len(words)}Q", *(w & NONE for w in words)))

    def _run(self, argv: Sequence[str | Path], limits: ProcessLimits) -> Completed:
        """Run the interpreter in its cage: it sees itself, the image, its folder and the stored inputs."""
        image, folder, *stored = (Path(word) for word in argv)
        program = executor(self._toolchain, self._cache)
        view = executor_view(program, folder, image, *stored)
        words = [str(program), *map(str, argv)]
        done = run(words, cwd=folder, env={}, limits=limits, cage=self._toolchain.cage, view=view)
        if done.returncode == 71:
            raise LabError(done.stderr.strip())
        return done


def _header(plan: ResolvedPlan, layout: MemoryLayout, work: Work, marks: int) -> list[int]:
    shadow = 24 * sum(region.size for region in layout.regions)
    together = max((math.prod(each.grid) for each in plan.launches if each.cooperative), default=work.workers)
    waves = max(-(-launch.threads // 64) for launch in plan.launches)
    space = layout.arena + shadow + 2 * layout.masks + (together + work.workers) * waves * 64 * _WAVE_BYTES
    _, segment, fill, lanes, l1_bytes, _ = work.device
    return [
        MAGIC,
        int(work.recorded_blocks > 0),
        work.workers,
        int(work.deadline_s * 1e6),
        len(layout.regions),
        len(plan.launches),
        work.recorded_blocks,
        layout.memory,
        layout.masks,
        space + (64 << 30),
        work.l1_lines,
        work.line_bytes,
        segment,
        fill,
        lanes,
        l1_bytes,
        work.checks,
        int(work.exact),
        _RANDOM.randrange(1, 1 << 32) if work.shuffled else 0,
        int(work.backwards),
        1,
        len(work.surveyed[0]),
        *work.survey,
        len(work.seen),
        marks,
    ]


def _launches(program: ListedProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> list[int]:
    addresses = {region.buffer.name: region.address for region in layout.regions}
    lists = work.workgroups or (None,) * len(plan.launches)
    words: list[int] = []
    for launch, blocks, numbers in zip(plan.launches, work.blocks, lists, strict=True):
        segment = pack((program.layouts or {})[launch.kernel], launch, addresses)
        words += [
            program.kernels[launch.kernel],
            *launch.grid,
            *launch.block,
            launch.lds_bytes,
            blocks,
            len(numbers or ()),
            int(launch.cooperative),
            len(segment),
        ]
        padded = segment + bytes(-len(segment) % 8)
        words += [*struct.unpack(f"<{len(padded) // 8}Q", padded), *(numbers or ())]
    return words


def workers_for(work: Work, plan: ResolvedPlan) -> Work:
    """Let workgroups that run at once share one worker: they take turns there."""
    return replace(work, workers=1) if any(launch.cooperative for launch in plan.launches) else work
