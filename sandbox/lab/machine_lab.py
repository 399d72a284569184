"""The lab whose executor is the machine: it runs the listing that the compiler made for the GPU."""

from __future__ import annotations

import math
import random
import struct
import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from itertools import chain
from pathlib import Path

from records.evaluation import Finding
from sandbox.amdgcn.compiler import Compilation, Compiler
from sandbox.amdgcn.listing import kernels_in
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.candidate.arguments import NullArg
from sandbox.candidate.diagnostics import SOURCE
from sandbox.candidate.instances import instantiated
from sandbox.candidate.plan import CONTENTS, VALUE, Candidate
from sandbox.candidate.resolve import ResolvedPlan
from sandbox.candidate.source_refusals import source_refusals
from sandbox.evidence import Evidence
from sandbox.lab import executor_request
from sandbox.lab.cost.phases import lane_groups
from sandbox.lab.execution_place import ExecutionPlace, executor_view, new_place
from sandbox.lab.executor_limits import STREAMS, device_words
from sandbox.lab.executor_request import NONE, ROLES, MemoryLayout, Work
from sandbox.lab.explored_launches import explored_words
from sandbox.lab.lab import Execution, ExecutionRequest, Lab
from sandbox.lab.lab_program import LabProgram
from sandbox.lab.memory_folder import memory_folder
from sandbox.lab.program_server import ProgramServers
from sandbox.machine.executor import executor
from sandbox.machine.instrumented.instrumented_build import InstrumentedBuild
from sandbox.machine.kernarg import pack
from sandbox.machine.machine_program import machine_program
from sandbox.machine.unreadable import UndefinedName, UnreadableListing
from sandbox.process import Completed, ProcessLimits, run
from sandbox.recent import Recent
from sandbox.target import Target

MAGIC = 0x4B534D5245513031
STREAM_BYTES = 256 << 20  # of the file that they are kept in, most of it a hole
_RANDOM = random.SystemRandom()
_LANES_MEET, _NEEDS_FENCE = 1, 2  # SourceRule of the interpreter; fences are marked in an instrumented listing
_TOLD_APART = "this compiles for the GPU, but not with the probes of the lab, so it asks how it is compiled"
PROGRAMS = 64  # instrumented ones that are kept
_WAVE_BYTES = 400 << 10  # registers of a wave with what is defined of them, and its part of LDS


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
        self._instrumented: Recent[tuple[str, frozenset[int]], LabProgram | tuple[Finding, ...] | None]
        self._instrumented = Recent(PROGRAMS)
        self._instrumenting = threading.Lock()
        self._servers = ProgramServers(lambda: executor(toolchain, self._cache), toolchain.cage, toolchain.stop)

    def warm(self) -> None:
        """Build the interpreter and the precompiled header of programs with probes."""
        executor(self._toolchain, self._cache)
        self._probing.warm()

    def build(self, candidate: Candidate, tunables: Mapping[str, int]) -> LabProgram | tuple[Finding, ...]:
        """Decode the listing of the candidate's compilation; findings where it does not compile or cannot be read."""
        if refused := source_refusals(candidate.source):
            return refused
        compilation = self._compiler.compile(candidate, tunables, is_assembled=False)
        return self.decoded(candidate, tunables, compilation) if compilation.ok else compilation.findings

    def decoded(
        self, candidate: Candidate, tunables: Mapping[str, int], compilation: Compilation
    ) -> LabProgram | tuple[Finding, ...]:
        """Decode the listing of a compilation; findings where it, or the source, holds what is refused or not known."""
        if refused := source_refusals(candidate.source):
            return refused
        symbols = {name: kernel.symbol for kernel in compilation.kernels for name in (kernel.symbol, kernel.name)}
        return self._listed(compilation.listing, candidate, tunables, symbols)

    def execute(self, request: ExecutionRequest) -> Execution:
        """Run all launches in order; where probes are asked for, by a program with probes before."""
        probed = self._probed(request)
        if isinstance(probed, tuple):
            return Execution({}, {}, probed, 0.0, (), False, (), 0.0)
        if probed is not None:
            execution = super().execute(replace(request, program=probed, probes=False))
            if execution.findings:
                return execution
            request = replace(request, program=replace(request.program, lanes_meet=False))
        return super().execute(request)

    def _probed(self, request: ExecutionRequest) -> LabProgram | tuple[Finding, ...] | None:
        """Give the instrumented program of a request that every workgroup takes part in; None where there is none.

        Findings where the text of a candidate that compiles for the GPU is in error with probes.
        """
        program = request.program
        is_whole = not (request.count or request.blocks or any(request.workgroups)) and request.checks == "all"
        if not (request.probes and is_whole and program.text is not None and program.is_checked):
            return None
        absent = frozenset(
            position
            for launch in request.plan.launches
            for position, argument in enumerate(launch.args)
            if isinstance(argument, NullArg)
        )
        with self._instrumenting:
            text = program.text
            return self._instrumented.get((program.path, absent), lambda: self._instrument(*text, absent))

    def _instrument(
        self, candidate: Candidate, tunables: Mapping[str, int], absent: frozenset[int] = frozenset()
    ) -> LabProgram | tuple[Finding, ...] | None:
        listed = self._probing.build(candidate, tunables, absent)
        if listed.is_source:
            return tuple(replace(finding, message=f"{_TOLD_APART}: {finding.message}") for finding in listed.findings)
        if listed.findings:
            return None  # the candidate compiles without probes, and is judged without them
        symbols = {kernel.symbol: kernel.symbol for kernel in kernels_in(listed.listing, SOURCE)}
        symbols |= {kernel.name: kernel.symbol for kernel in kernels_in(listed.listing, SOURCE)}
        symbols |= dict(listed.symbols)
        program = self._listed(listed.listing, candidate, tunables, symbols)
        return replace(program, probes=listed.probes, text=None) if isinstance(program, LabProgram) else None

    def _listed(
        self, listing: str, candidate: Candidate, tunables: Mapping[str, int], symbols: Mapping[str, str]
    ) -> LabProgram | tuple[Finding, ...]:
        launched = [launch.kernel for launch in instantiated(candidate, tunables).plan.launches]
        program = self.program(listing, {name: symbols.get(name, "") for name in launched}, SOURCE)
        return replace(program, text=(candidate, tunables)) if isinstance(program, LabProgram) else program

    def program(self, listing: str, symbols: Mapping[str, str], source_name: str) -> LabProgram | tuple[Finding, ...]:
        """Decode a listing of any language; `symbols` are of the kernels that a plan launches, by their names there."""
        try:
            program = machine_program(listing, self._cache / "machine" / "images", source_name)
        except UnreadableListing as refused:
            return (_refusal(refused, source_name),)
        defined = {name: symbol for name, symbol in symbols.items() if symbol}
        return LabProgram(
            program.path,
            {name: program.kernels[symbol] for name, symbol in defined.items()},
            {name: program.layouts[symbol] for name, symbol in defined.items()},
            program.lines,
            max(program.lds_bytes.values(), default=0),
            program.sought,
            lanes_meet=source_name == SOURCE,  # of the source: Triton's blocks and assembly have no lanes of their own
        )

    def place(self, image: Path, nbytes: int) -> AbstractContextManager[ExecutionPlace]:
        """As the lab; with a server among many executions, where it cannot be outlived, unless all files are kept."""
        parent = memory_folder(self._cache, nbytes)
        if self._servers.are_kept and not self._evidence and self._toolchain.cage.level == "namespaces":
            return self._servers.place(image, parent, self._run)
        return new_place(image, parent, self._run)

    def many_executions(self) -> AbstractContextManager[None]:
        """As the lab: servers wait for requests meanwhile."""
        return self._servers.kept()

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

    def _write(self, folder: Path, program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> None:
        executor_request.write_memory(folder / "memory.bin", layout)
        with (folder / "masks.bin").open("wb") as file:
            file.truncate(layout.masks)
        (folder / "result.json").touch()
        (folder / STREAMS).unlink(missing_ok=True)
        if work.timeline and work.timeline.keep:
            with (folder / STREAMS).open("wb") as file:
                file.truncate(STREAM_BYTES)
        marks = [c.instruction for c in program.reported] if work.checks and not work.recorded_blocks else []
        addresses = {region.buffer.name: region.address for region in layout.regions}
        explored = explored_words(work.exploration, plan, program.layouts, addresses) if work.exploration else []
        header = _header(program, plan, layout, work, len(explored), len(marks))
        words = [*header, *struct.unpack("<64Q", work.phases or lane_groups())]
        for region in layout.regions:
            poison = int.from_bytes(region.poison, "little")
            file_words = region.file_offset, region.mask_offset, region.period, poison
            words += [ROLES[region.buffer.role], region.size, region.address, *file_words]
        coverage = work.coverage + bytes(-len(work.coverage) % 8)
        words += [*chain(*work.surveyed), *struct.unpack(f"<{len(coverage) // 8}Q", coverage), *marks]
        words += work.timeline.words() if work.timeline else ()
        words += _launches(program, plan, layout, work)
        packed = struct.pack(f"<{len(words)}Q", *[w & NONE for w in words])
        (folder / "request.bin").write_bytes(b"".join((packed, *explored)))

    def _run(self, argv: Sequence[str | Path], limits: ProcessLimits) -> Completed:
        """Run the interpreter in its cage: it sees itself, the image, its folder and the stored inputs."""
        image, folder, *stored = (Path(word) for word in argv)
        program = executor(self._toolchain, self._cache)
        view = executor_view(program, folder, image, *stored)
        words = [str(program), *map(str, argv)]
        cage, stop = self._toolchain.cage, self._toolchain.stop
        return run(words, cwd=folder, env={}, limits=limits, cage=cage, view=view, stop=stop)


def _refusal(refused: UnreadableListing, source_name: str) -> Finding:
    file, line = refused.location
    source_line = line if line and file.rpartition("/")[2] == source_name else None
    if isinstance(refused, UndefinedName):
        text = f"undefined symbol: {refused.name} is used but not defined here; device code has no library to link with"
        return Finding("compile_error", text, source_line, code="B.2")
    return Finding("compile_error", str(refused), source_line, code="B.1")


def _header(
    program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work, explored: int, marks: int
) -> list[int]:
    shadow = 64 * sum(region.size for region in layout.regions)  # records of words and of bytes, see shadow.h
    together = max((math.prod(launch.grid) for launch in plan.launches if launch.cooperative), default=work.workers)
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
        work.order,
        (_LANES_MEET if program.lanes_meet else 0) | (_NEEDS_FENCE if program.probes else 0),
        len(work.surveyed[0]),
        *work.survey,
        len(work.coverage),
        explored,
        work.exploration.evaluations if work.exploration else 0,
        marks,
        *_timed(work),
    ]


def _timed(work: Work) -> tuple[int, int, int]:
    timeline = work.timeline
    return (timeline.steps, timeline.neighbour_steps, len(timeline.words())) if timeline else (0, 0, 0)


def _launches(program: LabProgram, plan: ResolvedPlan, layout: MemoryLayout, work: Work) -> list[int]:
    addresses = {region.buffer.name: region.address for region in layout.regions}
    lists = work.workgroups or (None,) * len(plan.launches)
    words: list[int] = []
    neighbours = work.timeline.neighbours if work.timeline else ((),) * len(plan.launches)
    for launch, blocks, numbers, near in zip(plan.launches, work.blocks, lists, neighbours, strict=True):
        segment = pack(program.layouts[launch.kernel], launch, addresses)
        words += [
            program.kernels[launch.kernel],
            *launch.grid,
            *launch.block,
            launch.lds_bytes,
            blocks,
            len(numbers or ()),
            int(launch.cooperative),
            int(launch.kernel.startswith((f"{CONTENTS}<", f"{VALUE}<"))),
            len(near),
            len(segment),
        ]
        padded = segment + bytes(-len(segment) % 8)
        words += [*struct.unpack(f"<{len(padded) // 8}Q", padded), *(numbers or ()), *near]
    return words
