"""Assemble a hand-written gfx942 file in the compiler's cage, and give its listing, kernels and registers."""

from __future__ import annotations

import hashlib
import re
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from records import scratch_folder
from records.codec import dumps, loads
from records.errors import NoAnswer, ToolchainError
from records.evaluation import Finding
from records.files import write_whole
from sandbox.amdgcn.build_budget import BuildBudget
from sandbox.amdgcn.compiler import MAX_LISTING, Compilation
from sandbox.amdgcn.front_end import Tools
from sandbox.amdgcn.listing import ListedKernel, kernels_in, metadata_in
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.cage.output import UNREADABLE, UnusableOutput, read_output
from sandbox.candidate.diagnostics import (
    MAX_FINDINGS,
    ending_of,
    forbidden_directive,
    listing_findings,
    readable,
    refusal,
)
from sandbox.candidate.limits import resources_of
from sandbox.candidate.plan import Candidate
from sandbox.guests.assembly_text import LISTING, SOURCE, cleaned, listing_of
from sandbox.guests.stated_registers import Descriptor, contradictions, descriptors_in
from sandbox.process import Completed
from sandbox.target import Target

FORMAT = "1"  # raise it when a stored compilation would be read differently
_ERROR = re.compile(rf"^{re.escape(SOURCE)}:(\d+):\d+: error: (.*)$", re.M)
_TRIPLE = "amdgcn-amd-amdhsa"


class Assembler:
    """Assembles for one target and remembers by content. Safe for threads."""

    def __init__(self, toolchain: Toolchain, cache: Path, target: Target) -> None:
        """`cache` may be shared by any number of processes."""
        self._toolchain, self._cache, self._target = toolchain, cache.resolve(), target

    def compile(self, candidate: Candidate) -> Compilation:
        """Assemble a file; findings where the assembler refuses it or it contradicts itself."""
        stored = self._path(candidate)
        if stored_compilation := _load(stored):
            return stored_compilation
        started, budget = time.monotonic(), BuildBudget()
        try:
            (self._cache / "work").mkdir(parents=True, exist_ok=True)
            work = scratch_folder.make_in(self._cache / "work")
            try:
                compilation = self._assembled(candidate.source, work, Tools(self._toolchain, budget=budget))
            finally:
                scratch_folder.remove(work)
            compilation = replace(compilation, seconds=time.monotonic() - started, cpu_s=budget.spent_s)
            if compilation.is_final:
                stored.parent.mkdir(parents=True, exist_ok=True)
                write_whole(stored, dumps(compilation).encode())
            return compilation
        except (UnusableOutput, *UNREADABLE) as error:
            raise NoAnswer(f"the assembler left nothing that can be read ({error})") from None
        except OSError as error:
            raise ToolchainError(f"the compiler's cache {self._cache} cannot be used ({error.strerror})") from None

    def _assembled(self, source: str, work: Path, tools: Tools) -> Compilation:
        text = cleaned(source)
        for number, line in enumerate(text.split("\n"), 1):
            if directive := forbidden_directive(line):
                return _failed(refusal(f"the assembler directive .{directive} may not be used", number))
        (work / SOURCE).write_text(text, encoding="utf-8")
        machine = ("-cc1as", "-triple", _TRIPLE, "-target-cpu", self._target.arch)
        printed = ("-filetype", "asm", "-debug-info-kind=constructor", "-dwarf-version=5")
        completed = tools.run(work, "clang", *machine, *printed, SOURCE, "-o", LISTING)
        if completed.returncode != 0:
            return _refused(completed)
        output = read_output(work / LISTING)
        if len(output) > MAX_LISTING:
            return _failed(refusal("the file is larger than 16 MiB when it is assembled"))
        listing = listing_of(output.decode("utf-8", errors="replace"), _kernel_names(text))
        (work / LISTING).write_text(listing, encoding="utf-8")
        completed = tools.run(work, "clang", *machine, "-filetype", "obj", LISTING, "-o", "candidate.o")
        if completed.returncode != 0:  # the first pass read the same instructions
            return _refused(completed)
        return self._read(listing, readable(completed.stderr))

    def _read(self, listing: str, diagnostics: str) -> Compilation:
        descriptors, table = descriptors_in(listing), metadata_in(listing)
        if findings := listing_findings(listing, SOURCE):
            return _failed(*findings)
        if not descriptors:
            hint = "write .amdhsa_kernel NAME ... .end_amdhsa_kernel and .amdgpu_metadata, as a compiler's listing has"
            return _failed(refusal(f"the file has no kernel descriptor; {hint}"))
        if wrong := tuple(contradictions(listing, descriptors, table)):
            return _failed(*wrong[:MAX_FINDINGS])
        kernels = tuple(_with_descriptor(k, descriptors[k.symbol]) for k in kernels_in(listing, SOURCE))
        if empty := [k.symbol for k in kernels if not k.instructions]:
            return _failed(refusal(f"the kernel {empty[0]} has no code: no label {empty[0]}: in .text"))
        return Compilation(True, (), kernels, resources_of(kernels, self._target), "", listing, diagnostics)

    def _path(self, candidate: Candidate) -> Path:
        parts: list[Any] = [FORMAT, self._toolchain.version, self._target.arch, candidate.source]
        key = hashlib.sha256(dumps(parts).encode()).hexdigest()
        return self._cache / "assembly" / key[:2] / f"{key}.json"


def _kernel_names(text: str) -> list[str]:
    return re.findall(r"^[ \t]*\.amdhsa_kernel[ \t]+([.$\w]+)", text, re.M)


def _with_descriptor(kernel: ListedKernel, descriptor: Descriptor) -> ListedKernel:
    """Give the kernel the registers that the hardware gives it, whatever the metadata says."""
    vector = max(1, descriptor.get("next_free_vgpr", 0))
    agpr = max(0, vector - descriptor.get("accum_offset", vector))
    return replace(kernel, vgpr=vector, agpr=agpr, sgpr=descriptor.get("next_free_sgpr", 0) + 6)


def _refused(completed: Completed) -> Compilation:
    """Report the assembler's errors at their lines."""
    rows = [
        refusal(f"the assembler refuses this: {message}", int(line))
        for line, message in _ERROR.findall(completed.stderr)
    ]
    if rows:
        return replace(_failed(*rows[:MAX_FINDINGS]), diagnostics=readable(completed.stderr))
    ending = ending_of(completed)
    if ending and ending.cause != "silent":
        return replace(_failed(ending.finding("assembler")), is_final=False)
    lines = [line for line in readable(completed.stderr).split("\n") if line.strip()]
    return _failed(refusal(f"the assembler refuses the file: {lines[0].strip()[:300] if lines else 'it says nothing'}"))


def _failed(*findings: Finding) -> Compilation:
    return Compilation(False, findings)


def _load(path: Path) -> Compilation | None:
    try:
        return loads(Compilation, path.read_text(encoding="utf-8"))
    except (OSError, ValueError, TypeError):
        return None  # not assembled yet, or written by another version
