"""The machine code of a run's candidates for its page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from app.settings import Settings
from page.sheets import Disassemble, Machine, MachineRow

if TYPE_CHECKING:
    from records.experiment import Run
    from sandbox.amdgcn.compiler import Compiler


def disassembler(settings: Settings, run: Run, *, compiles: bool) -> Disassemble:
    """Return what shows machine code; what is not in the compiler's cache is compiled only where `compiles` says so."""
    from records.errors import ScientistError

    def disassemble(source: str, tunables: Mapping[str, int]) -> Machine:
        from app.wiring import make_compiler

        try:
            return _machine(make_compiler(settings, run.target), source, tunables, compiles)
        except ScientistError as error:
            return Machine(refusal=str(error))

    return disassemble


def _machine(compiler: Compiler, source: str, tunables: Mapping[str, int], compiles: bool) -> Machine:
    from sandbox.amdgcn.annotation import annotate
    from sandbox.candidate.diagnostics import SOURCE
    from sandbox.candidate.dispatch import is_dispatch
    from sandbox.candidate.parse import parse

    if is_dispatch(source):
        return Machine(refusal="this file holds several kernels; the candidates it was composed of show theirs")
    candidate = parse(source)
    values = {**candidate.defaults(), **tunables}
    compilation = compiler.compile(candidate, values) if compiles else compiler.stored(candidate, values)
    if compilation is None:
        return Machine(refusal="its machine code is not in the compiler's cache; `kernel-scientist serve` compiles it")
    if not compilation.ok:
        return Machine(refusal="this candidate does not compile")
    names = {kernel.symbol: kernel.name for kernel in compilation.kernels}
    return Machine(
        {
            names[symbol]: tuple(MachineRow(i.line, i.text, i.group, i.label, i.depth) for i in rows)
            for symbol, rows in annotate(compilation.listing, SOURCE).items()
            if symbol in names
        }
    )
