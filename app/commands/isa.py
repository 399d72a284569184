"""`isa`: Show a kernel file's machine code beside its source lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from app.commands.options import Json, KernelFile, TargetName, TunableValues, shipped_tasks, tunables_of
from app.screen import emit, say, table
from records.errors import UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from records.evaluation import Finding, Resources
    from sandbox.amdgcn.annotation import Instruction
    from sandbox.amdgcn.compiler import Compilation

Listings = Mapping[str, Sequence["Instruction"]]
ForTask = Annotated[
    str,
    typer.Option(
        "--task", help="Rate the occupancy for this task's shapes.", show_default=False, autocompletion=shipped_tasks
    ),
]


def command(
    file: KernelFile,
    task: ForTask = "",
    target: TargetName = "mi300x",
    kernel: Annotated[str, typer.Option("--kernel", help="Only this kernel of the file.", show_default=False)] = "",
    set_: TunableValues = None,
    json: Json = False,
) -> None:
    """Compile one kernel and print its instructions under their source lines; exit 1 if it does not compile."""
    from records.errors import PlanError
    from records.evaluation import Finding
    from sandbox.amdgcn.annotation import annotate
    from sandbox.candidate.language import SOURCE_NAMES, language_of

    source, file, name = _one_kernel(file)
    chosen, kernel, language = tunables_of(set_ or []), kernel or name, language_of(source)
    try:
        compilations, resources = _compiled(source, task, target, chosen)
    except PlanError as error:
        _refuse(file.name, source, [Finding("compile_error", str(error), line=error.line)], json)
    if refused := [f for compilation in compilations if not compilation.ok for f in compilation.findings]:
        _refuse(file.name, source, refused, json)
    names = {k.symbol: k.name for compilation in compilations for k in compilation.kernels}
    if kernel and kernel not in (*names, *names.values()):
        raise UsageError(f"{file} has no kernel {kernel!r}; it has {', '.join(sorted(set(names.values())))}")
    listings = {
        names[symbol]: rows
        for compilation in compilations
        for symbol, rows in annotate(compilation.listing, SOURCE_NAMES[language]).items()
        if symbol in names and kernel in ("", symbol, names[symbol])
    }
    if json:
        emit(
            {"ok": True, "findings": [], "kernels": [_kernel_json(n, rows, resources) for n, rows in listings.items()]}
        )
    else:
        _print(listings, resources, source.split("\n"))


def _compiled(
    source: str, task: str, target: str, chosen: Mapping[str, int]
) -> tuple[tuple[Compilation, ...], Mapping[str, Resources]]:
    """Compile the file's kernels: the compilations, and the resources of each."""
    from app.guest_kernels import guest_compilations
    from app.settings import load_settings
    from app.wiring import make_compiler
    from sandbox.candidate.language import language_of
    from sandbox.candidate.parse import parse

    settings = load_settings()
    if language_of(source) != "hip":
        compilations = guest_compilations(settings, target, source, task, chosen)
        return compilations, {r.kernel: r for compilation in compilations for r in compilation.resources}
    candidate = parse(source)
    values = {**candidate.defaults(), **chosen}
    compilation = make_compiler(settings, target).compile(candidate, values)
    return (compilation,), _resources(compilation, candidate, task, target, values)


def _one_kernel(file: Path) -> tuple[str, Path, str]:
    """Read a file that holds one kernel: its text, its path, and the name behind a colon; UsageError otherwise."""
    from sandbox.candidate.dispatch import is_dispatch
    from sandbox.candidate.kernel_file import read_kernel

    source, file, name = read_kernel(file)
    if is_dispatch(source):
        raise UsageError(
            f"{file} holds several kernels; save the one you want, the lines after its `//+++ part NAME`, as a file"
        )
    return source, file, name


def _resources(
    compilation: Compilation, candidate: Any, task: str, target: str, values: Mapping[str, int]
) -> Mapping[str, Resources]:
    """By kernel; without a task for the largest block that each kernel allows."""
    rows = compilation.resources
    if task:
        from app.settings import load_settings
        from app.task_folders import open_task
        from sandbox.candidate.fit import check
        from sandbox.candidate.limits import resources_of
        from sandbox.candidate.resolve import resolve
        from sandbox.target import load_target

        loaded = open_task(load_settings(), task, target)
        check(candidate, loaded)
        plans = [resolve(candidate, loaded, case, values) for case in (*loaded.tests, *loaded.benchmarks)]
        rows = resources_of(compilation.kernels, load_target(target), plans)
    return {r.kernel: r for r in rows}


def _refuse(name: str, source: str, findings: Sequence[Finding], json: bool) -> None:
    if json:
        emit(
            {
                "ok": False,
                "findings": [{"kind": f.kind, "line": f.line, "message": f.message} for f in findings],
                "kernels": [],
            }
        )
    else:
        from app.verdict import excerpts

        say(f"{name}: does not compile")
        excerpts(findings, source)
    raise typer.Exit(1)


def _kernel_json(name: str, rows: Sequence[Instruction], resources: Mapping[str, Resources]) -> dict[str, Any]:
    r = resources[name]
    return {
        "name": name,
        "instructions": dict(r.instructions),
        "resources": {
            "vgpr": r.vgpr,
            "agpr": r.agpr,
            "sgpr": r.sgpr,
            "lds_bytes": r.lds_bytes,
            "scratch_bytes": r.scratch_bytes,
            "waves_per_simd": r.waves_per_simd,
        },
        "listing": [
            {"line": i.line or None, "text": i.text, "class": i.group, "label": i.label or None, "loop_depth": i.depth}
            for i in rows
        ],
    }


def _print(listings: Listings, resources: Mapping[str, Resources], lines: Sequence[str]) -> None:
    for name, rows in listings.items():
        say(f"{name}: {counted(len(rows), 'instruction')}")
        _print_listing(rows, lines)
        r = resources[name]
        say("\nResources")
        table(
            ["  VGPR", "AGPR", "SGPR", "LDS bytes", "scratch bytes", "waves per SIMD"],
            [[f"  {r.vgpr}", str(r.agpr), str(r.sgpr), str(r.lds_bytes), str(r.scratch_bytes), str(r.waves_per_simd)]],
            right=range(1, 6),
        )
        say("\nInstruction mix: all, and those inside loops")
        looped = [i.group for i in rows if i.depth]
        mix = sorted(r.instructions.items(), key=lambda item: -item[1])
        table(["  class", "all", "in loops"], [[f"  {g}", str(n), str(looped.count(g))] for g, n in mix], right=[1, 2])
        say()


def _print_listing(rows: Sequence[Instruction], lines: Sequence[str]) -> None:
    """Print a heading wherever the source line changes, and one bar before an instruction for each loop around it."""
    before = -1
    for row in rows:
        if row.line != before:
            statement = lines[row.line - 1].strip() if 0 < row.line <= len(lines) else "(no source line)"
            say(f"\n{row.line or '-':>5} | {statement}")
            before = row.line
        bars = "|" * min(row.depth, 4)
        if row.label:
            say(f"        {bars:4} {row.label}:")
        mnemonic, _, operands = row.text.partition(" ")
        say(f"        {bars:4}   {mnemonic:28} {operands}".rstrip())
