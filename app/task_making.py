"""A task made of somebody's file or folder: PyTorch, NumPy, KernelBench, HIP, CUDA and the other forms."""

from __future__ import annotations

import re
import shlex
from dataclasses import dataclass, field
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING

from app.screen import note
from imports.declared_inputs import DeclaredInputs, Plain
from imports.python_entry import python_entry
from imports.readers import KERNELS, ImportPlace, form_of
from records.errors import MachineError, UsageError
from tasks.parameters import frozen_parameters, parameters_text

if TYPE_CHECKING:
    from app.settings import Settings
    from tasks.task import Task

LAB = "mi300x"  # the target whose kernels can be judged without a GPU
MOST_FLOPS = 1 << 26  # of the tests that a naive kernel is executed on while a person waits
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")


@dataclass(frozen=True)
class TaskWish:
    """All that somebody says of a file that is to become a task."""

    name: str
    source: ImportPlace
    inputs: DeclaredInputs = field(default_factory=DeclaredInputs)
    reference: str = ""  # FILE.py or FILE.py:FUNCTION, of a HIP file
    outputs: tuple[str, ...] = ()
    licence: str = ""
    commit: str = ""
    is_golden: bool = False
    gate: tuple[float, float] | None = None  # relative and absolute tolerance, where the file prescribes none
    host: str = ""  # a host half, of a HIP file that has none, and the parameters of its kernel
    parameters: str = ""
    arguments: tuple[str, ...] | None = None  # of the command line of a HIP file's program


def make_task(settings: Settings, wish: TaskWish, folder: Path) -> tuple[Task, tuple[str, ...]]:
    """Write the new folder; return the task, and sentences about it. UsageError says why there can be none."""
    if wish.source.path.suffix in KERNELS:
        return _of_kernel(settings, wish, folder)
    if wish.reference or wish.outputs or wish.arguments is not None:
        raise UsageError(f"--reference, --output and --argv are for HIP files, and {wish.source.path} is none")
    return _of_function(settings, wish, folder)


def _of_kernel(settings: Settings, wish: TaskWish, folder: Path) -> tuple[Task, tuple[str, ...]]:
    from app.kernel_tasks import KernelWish, make_of_kernel

    digest = sha256(wish.source.head.encode()).hexdigest()
    origin = {"source": wish.source.path.name, "licence": wish.licence, "commit": wish.commit, "digest": digest}
    origin["parameters"] = wish.parameters
    inputs = wish.inputs
    kernel_wish = KernelWish(
        wish.name,
        wish.source,
        wish.reference,
        inputs.specs,
        inputs.sizes,
        wish.outputs,
        origin,
        wish.is_golden,
        wish.host,
        wish.arguments,
    )
    return make_of_kernel(settings, kernel_wish, folder)


def _of_function(settings: Settings, wish: TaskWish, folder: Path) -> tuple[Task, tuple[str, ...]]:
    from app.new_folder import whole_or_none
    from app.task_folders import open_sound_task, task_cage
    from exports.gpumode_submission import ARGUMENTS
    from imports.confined import imported

    form, inputs = form_of(wish.source), wish.inputs.checked()
    gathered = form.gather(wish.source)
    entry = python_entry(gathered.text, wish.source.function) if gathered.is_file else None
    numbers: dict[str, Plain] = dict(inputs.numbers)
    if entry is not None:
        numbers = {n: v for n, v in entry.reals().items() if n not in inputs.specs} | numbers
        entry = entry.given(numbers)
    origin = {"source": gathered.shown, "form": form.form, "licence": wish.licence, "commit": wish.commit}
    origin["parameters"] = parameters_text(entry.parameters) if entry else ""
    plain_request = gathered.request(wish.name, wish.source.function, inputs.specs, dict(inputs.sizes))
    if gathered.is_file:
        plain_request["source"]["numbers"] = numbers
    request = {
        **plain_request,
        "origin": {**origin, "digest": gathered.digest},
        "gate": wish.gate or form.gate,
        "golden": wish.is_golden,
    }
    note(f"executing {gathered.path.name} once, confined: without network and without your files")
    draft = imported(request, task_cage(settings))
    extra = {**gathered.copies, **({ARGUMENTS: dumps(draft.arguments).encode()} if draft.arguments else {})}
    with whole_or_none(folder):
        for file, content in {**draft.files, **extra}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        task, notes = with_right_seed(settings, folder, open_sound_task(settings, str(folder.absolute())))
    frozen = [f"{p.name} stays {p.default}: kernels never get it" for p in frozen_parameters(task)]
    return task, (*draft.notes, *frozen, *notes)


def with_right_seed(settings: Settings, folder: Path, task: Task) -> tuple[Task, tuple[str, ...]]:
    """Drop the generated kernels that the lab rejects on small cases; return the task and sentences about them."""
    from app.judged import fault_on_small_cases
    from app.task_folders import open_sound_task
    from imports.names import GENERATED, NAIVE

    if LAB not in task.targets or not (folder / NAIVE).exists():
        return task, ()
    if sum(task.work(case)[0] for case in task.tests[:2]) > MOST_FLOPS:
        return task, ("the generated kernel was not checked: the smallest tests are too large for it",)
    note("checking the generated kernel on small cases")
    notes = list[str]()
    for name in GENERATED:
        if not (folder / name).exists():
            continue
        try:
            fault = fault_on_small_cases(settings, (folder / name).read_text(), str(folder.absolute()), LAB)
        except MachineError as error:
            return task, (*notes, f"the generated kernel was not checked: {error}")
        if fault and name == NAIVE:
            for other in GENERATED[1:]:
                (folder / other).unlink(missing_ok=True)
        if fault:
            (folder / name).unlink()
            head = "no seed: the generated kernel" if name == NAIVE else f"the generated {name} is left out: it"
            notes.append(f"{head} does not pass: {fault}")
    return (open_sound_task(settings, str(folder.absolute())) if notes else task), tuple(notes)


def arguments_of(words: str) -> tuple[str, ...] | None:
    """Take a command line apart as a shell does; None for no word about it. UsageError for one with an open quote."""
    try:
        return tuple(shlex.split(words)) if words else None
    except ValueError as error:
        raise UsageError(f"--argv {words!r} cannot be taken apart ({error}): write it as a shell has it") from None


def folder_of(name: str, out: Path | None) -> Path:
    """Return the place of a new task; UsageError for a name that no task can have."""
    if not NAME.fullmatch(name):
        raise UsageError(f"the name of a task is letters, digits and underscores, not {name!r}")
    return out or Path(name)


def import_place(source: str, option: str = "--from takes ") -> ImportPlace:
    """Read FILE or FILE:FUNCTION; UsageError where there is no such file or folder."""
    path, _, function = source.rpartition(":") if re.search(r":[A-Za-z_]\w*$", source) else (source, "", "")
    file = Path(path)
    if not file.is_file() and not file.is_dir():
        why = "is no file" if file.exists() else "is not there"
        raise UsageError(f"{file} {why}; {option}FILE or FILE:FUNCTION")
    return ImportPlace(file, function)
