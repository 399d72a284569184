"""`tasks new --from FILE.hip`: a task of a HIP file, its host half and a reference of what it computes."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.screen import note
from records.errors import UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from imports.confined import Imported
    from imports.hosts.host_plan import HostPlan
    from imports.readers import ImportPlace, Specs
    from tasks.task import Task

PLAIN_RATIO, MARGIN = 2.0, 0.7  # of every import; the share of it that a kernel may need, since draws differ
RATIOS = (4.0, 8.0, 16.0)  # tolerances that are tried for a kernel that is right and less accurate than the standard
ACCURACY = "C.4"  # right but for that


@dataclass(frozen=True)
class KernelWish:
    """All that the user says of a HIP file."""

    name: str
    source: ImportPlace
    reference: str
    specs: Specs
    sizes: Mapping[str, int]
    outputs: Sequence[str]
    origin: Mapping[str, str]
    is_golden: bool
    host: str = ""  # a host half, of a file that has none
    arguments: tuple[str, ...] | None = None  # of its program's command line


def make_of_kernel(settings: Settings, wish: KernelWish, folder: Path) -> tuple[Task, tuple[str, ...]]:
    """Write the folder, with the file as a seed that passes `check`: the task, and notes. UsageError says why not.

    Real numbers that the reference takes are scalars of the task, unless the kernels have them built in.
    """
    try:
        return _made(settings, wish, folder, True)
    except _BuiltIn:
        return _made(settings, wish, folder, False)


class _BuiltIn(Exception):
    """The kernels are right with the file's own numbers alone."""


def _made(settings: Settings, wish: KernelWish, folder: Path, has_scalars: bool) -> tuple[Task, tuple[str, ...]]:
    from app.new_folder import whole_or_none
    from app.task_folders import open_sound_task, task_cage
    from imports.confined import imported
    from imports.hosts.local_headers import with_headers
    from imports.hosts.memory import HostUnclear
    from imports.import_source import asks_for_torch
    from imports.kernel_request import matched, parameters_of, request_of, shapes_of
    from imports.readers import text_of

    path = wish.source.path
    text, absent = with_headers(path, wish.source.head, text_of)
    reference = reference_of(wish.reference)
    function, names = parameters_of(str(reference.path), reference.head, reference.function) if reference else ("", [])
    try:
        plan = plan_of(settings, wish, text + wish.host)
    except HostUnclear as error:
        raise UsageError(f"{path} cannot become a task: {error}") from None
    match = matched(plan, names)
    specs, shapeless = shapes_of(plan, match, wish.specs)
    _refuse_missing(path, plan, reference, [*match.missing, *shapeless], wish)
    assert reference is not None
    has_scalars = has_scalars and asks_for_torch("kernel", reference.head)  # NumPy's text keeps its numbers
    fields = request_of(plan, match, specs, plan.dims)
    source = {
        **fields,
        "kind": "kernel",
        "path": reference.path.name,
        "text": reference.head,
        "scalars_vary": has_scalars,
    }
    request = {
        "name": wish.name,
        "title": wish.name.replace("_", " "),
        "source": {**source, "function": function, "kernel": wish.source.head},
        "origin": {**wish.origin, "form": "hip"},
        "gate": None,
        "golden": wish.is_golden,
    }
    note(f"executing {reference.path.name} once, confined: without network and without your files")
    draft = imported(request, task_cage(settings))
    with whole_or_none(folder):
        scalars = {n: float(v) for n, v in fields["numbers"].items()} if has_scalars else {}
        changes = _write_folder(settings, folder, draft, plan, match, text, reference, scalars)
        frozen = _name_frozen(folder)
        task = open_sound_task(settings, str(folder.absolute()))
    return task, (*changes, *draft.notes, *_notes(folder, plan, absent, frozen))


def _notes(folder: Path, plan: HostPlan, absent: Sequence[str], frozen: str) -> list[str]:
    """Say what was left out, and what follows from the file's own sizes and numbers."""
    from sandbox.candidate.guessed_branches import guesses_text

    notes = [f"{header} is not beside the file and is left out" for header in absent]
    guessed = guesses_text((folder / "seed.hip").read_text(encoding="utf-8"))
    notes += [f"seed.hip: {guessed}"] if guessed else []
    notes += [f"{frozen}: kernels never get another value"] if frozen else []
    return notes + [f"taken as for the file's own sizes: {d}" for d in plan.decisions]


def plan_of(settings: Settings, wish: KernelWish, text: str) -> HostPlan:
    """Execute the host half, confined; HostUnclear says why it gives no plan."""
    from app.task_folders import task_cage
    from imports.hosts.found_plan import HostSource, HostWishes, found_plan
    from imports.hosts.host_compiler import HostCompiler
    from sandbox.amdgcn.toolchain import find_toolchain

    task_cage(settings)  # refuses where nothing would keep the program from the user's files
    toolchain = find_toolchain(settings.cache_folder / "toolchain")
    compiler, work = HostCompiler(toolchain), settings.cache_folder / "work"
    if not compiler.has_standard:
        note("building the C++ library for host halves (a minute or two, once)")
    note(f"executing the host half of {wish.source.path.name}, confined: without network and without your files")
    work.mkdir(parents=True, exist_ok=True)
    wishes = HostWishes(wish.source.function, wish.sizes, wish.outputs, wish.arguments)
    return found_plan(HostSource(text, wish.source.path), compiler, wishes, work)


def reference_of(words: str) -> ImportPlace | None:
    """Read FILE.py or FILE.py:FUNCTION; UsageError where there is no such file."""
    from imports.readers import ImportPlace

    if not words:
        return None
    path, _, function = words.rpartition(":") if ":" in words else (words, "", "")
    reference = ImportPlace(Path(path), function)
    if not reference.path.is_file():
        raise UsageError(f"{reference.path} is not there; --reference takes FILE.py or FILE.py:FUNCTION")
    return reference


def _refuse_missing(
    path: Path, plan: HostPlan, reference: ImportPlace | None, more: list[str], wish: KernelWish
) -> None:
    """One sentence with everything that is missing."""
    outputs = {b.name for b in plan.outputs}
    missing = [f"the size {name}" for name in plan.sizeless]
    if not outputs:
        missing.append("which buffer is the output")
    missing += [f"the shape of {name}" for name in plan.shapeless if name not in outputs and reference is None]
    missing += more
    if reference is None:
        missing.append("what it computes (--reference FILE.py, a NumPy or PyTorch function of its inputs)")
    if not plan.dims and not missing:
        fixed = ", ".join(f"{n} = {v}" for n, v in plan.fixed.items()) or "all of them"
        raise UsageError(
            f"{path} cannot become a task: its sizes cannot change ({fixed}), so no case but its own could be judged"
        )
    if missing:
        sizes = ",".join(f"{name}=N" for name in plan.sizeless)
        hint = f"; sizes are given with --size {sizes}" if sizes else ""
        raise UsageError(f"{path} does not say {_enumeration(missing)}{hint}")


def _enumeration(parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def _name_frozen(folder: Path) -> str:
    """Write the numbers that the launches of the seed have built in into the task's origin; return them in words."""
    from imports.seed_scalars import built_in

    frozen = built_in((folder / "seed.hip").read_text(encoding="utf-8"))
    if frozen:
        manifest = folder / "task.toml"
        text = manifest.read_text(encoding="utf-8")
        manifest.write_text(
            text.replace("\n[origin]\n", f"\n[origin]\nfrozen = {json.dumps(frozen)}\n"), encoding="utf-8"
        )
    return frozen


def _write_folder(
    settings: Settings,
    folder: Path,
    draft: Imported,
    plan: HostPlan,
    match: Any,
    text: str,
    reference: ImportPlace,
    scalars: Mapping[str, float],
) -> tuple[str, ...]:
    """Write the folder with the first seed that passes; UsageError where none does."""
    from imports.kernel_seed import seeds_of
    from imports.seed_scalars import with_scalars

    for file, content in draft.files.items():
        if file != "seed.hip":
            (folder / file).write_bytes(content)
    (folder / "original_reference.py").write_text(reference.head, encoding="utf-8")
    manifest = draft.files["task.toml"].decode()
    seeds = [with_scalars(s, scalars) for s in seeds_of(plan, match, manifest, draft.other_sizes, text)]
    note("checking the file's own kernel against its reference")
    changes, finding = _accepted(settings, folder, seeds)
    if finding and scalars:
        raise _BuiltIn
    if finding:
        raise UsageError(
            f"{reference.path.name} does not say what the file computes, or its launch plan was not understood: "
            f"{finding}"
        )
    return changes


def _accepted(settings: Settings, folder: Path, seeds: Sequence[str]) -> tuple[tuple[str, ...], str]:
    """Keep the first seed that passes in the folder; return what was changed for it, else what the first one lacks.

    A kernel that adds up one number after the other is less accurate than the standard, and right. The task's tolerance
    is made as wide as that needs, up to a limit, and the linter has to find no fault with it.
    """
    from app.judged import judge

    first = ""
    for source in seeds:
        (folder / "seed.hip").write_text(source, encoding="utf-8")
        for ratio in (PLAIN_RATIO, *RATIOS):
            if ratio > PLAIN_RATIO:
                _widen(folder / "task.toml", ratio)
            evaluation = judge(settings, source, str(folder.absolute()), _target(folder), "lab")
            is_right = evaluation.verdict.accepted
            plain = [c.error for c in evaluation.cases if c.role != "held_out" and c.error is not None]  # no families
            worst = max(plain, default=0.0)
            if is_right and (worst <= MARGIN * ratio or ratio == RATIOS[-1]):
                change = f"the tolerance is {ratio:g} times the standard's error, as the file's own kernel needs"
                return (change,) if ratio > PLAIN_RATIO else (), ""
            if not is_right:
                first = first or "; ".join(f.message for f in evaluation.verdict.findings[:1])
                if evaluation.verdict.code != ACCURACY:
                    break
    return (), first or "it was rejected"


def _widen(manifest: Path, ratio: float) -> None:
    text = manifest.read_text(encoding="utf-8")
    manifest.write_text(re.sub(r"^ratio = .*$", f"ratio = {ratio}", text, flags=re.M), encoding="utf-8")


def _target(folder: Path) -> str:
    """Return the first target of the new task."""
    from tasks.manifest import read_manifest

    return read_manifest(folder / "task.toml", (folder / "task.toml").read_text(encoding="utf-8")).statement.targets[0]
