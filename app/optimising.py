"""From a file that somebody brings to a task and kernels to begin with, and from a run to files of their own form."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, get_args

from app.exporting import ExportForm
from imports.readers import KERNELS, ImportPlace, text_of
from records.errors import UsageError

if TYPE_CHECKING:
    from app.exporting import ExportedKernel
    from app.settings import Settings
    from imports.bare_kernel import BareKernel
    from tasks.task import Task

FOLDER, TASK = "-optimised", "task"  # of the result, behind the name; of the task in it
OTHER_FORMS = {"pytorch": "torch", "numpy": "numpy", "hip": "hip", "kernelbench": "kernelbench"}
PLAN = "/*+++"


@dataclass(frozen=True)
class UserFile:
    """All that somebody says of what is to become faster."""

    source: str  # FILE, FILE:NAME, a folder, or a task's name
    inputs: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    reference: str = ""
    outputs: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()  # of a kernel without host half
    block: tuple[str, ...] = ()
    task: str = ""  # of a kernel with a launch plan
    tolerance: str = ""
    name: str = ""
    argv: str = ""  # the command line of a kernel's program, as a shell writes it

    @property
    def is_task(self) -> bool:
        """True for a shipped task's name and for a folder with a task in it."""
        from tasks.loader import task_names

        path = Path(self.source)
        return (path / "task.toml").is_file() or (self.source in task_names() and not path.exists())

    @property
    def location(self) -> ImportPlace:
        """The file or folder and the function behind its colon; UsageError where there is none."""
        from app.task_making import import_place
        from tasks.loader import task_names

        path = self.source.rpartition(":")[0] or self.source
        if not Path(path).exists() and not Path(self.source).exists():
            raise UsageError(
                f"{self.source} is no file and no folder here, and no task: give FILE, FILE:NAME, a folder, or one of "
                f"{', '.join(task_names())}"
            )
        return import_place(self.source, "give ")

    @property
    def title(self) -> str:
        """The name of the result: as was given, the function's or kernel's, or the file's, as a name of a task."""
        if self.name or self.is_task:
            return self.name or Path(self.source).resolve().name
        location = self.location
        entry = location.function or self._only_entry() or location.path.resolve().name.partition(".")[0]
        words = re.sub(r"\W", "_", entry, flags=re.ASCII)
        return words if words[:1].isalpha() else f"k_{words}"

    def _only_entry(self) -> str:
        """Return the name of the one function or kernel that the file is about; empty where its own says more."""
        from imports.python_entry import entry_names

        location = self.location
        if not location.path.is_file() or self.is_candidate:
            return ""
        names = [k.name for k in self.bare()] if self.is_kernel else entry_names(location.head)
        return names[0] if len(names) == 1 and names != ["Model"] else ""

    @property
    def is_candidate(self) -> bool:
        """True for a kernel file that begins with a launch plan."""
        location = self.location
        return location.path.is_file() and location.head.lstrip("\ufeff \n").startswith(PLAN)

    @property
    def is_kernel(self) -> bool:
        """True for HIP and CUDA."""
        return self.location.path.suffix in KERNELS

    def bare(self) -> list[BareKernel]:
        """List the kernels of a file that launches none, or the one behind the colon."""
        from imports.bare_kernel import bare_kernels
        from imports.hosts.local_headers import with_headers

        location = self.location
        if not self.is_kernel or self.is_candidate:
            return []
        kernels = bare_kernels(with_headers(location.path, location.head, text_of)[0])
        return [k for k in kernels if location.function in ("", k.name)] or kernels


@dataclass(frozen=True)
class StartingPoint:
    """A task to search on: its name or folder, kernels to begin with, and sentences about it."""

    task: str
    starts: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()
    has_own_kernel: bool = False  # that somebody wrote, which the gain is told over


def prepare(settings: Settings, user_file: UserFile, folder: Path) -> StartingPoint:
    """Make the task in the new folder, or take the one that there is; UsageError says what is missing or wrong."""
    from app.task_making import TaskWish, arguments_of, make_task
    from imports.declared_inputs import declared

    if user_file.is_task:
        return StartingPoint(user_file.source)
    if user_file.is_candidate:
        if not user_file.task:
            raise UsageError(
                f"{user_file.source} begins with a launch plan and does not say what it is to compute: name its task "
                "with --task"
            )
        return StartingPoint(user_file.task, (user_file.location.path,), has_own_kernel=True)
    inputs = declared(user_file.inputs, user_file.sizes)
    wish = TaskWish(user_file.title, user_file.location, inputs, user_file.reference, user_file.outputs)
    if user_file.argv:
        wish = replace(wish, arguments=arguments_of(user_file.argv))
    if user_file.tolerance:
        wish = replace(wish, gate=gate_of(user_file.tolerance))
    if kernels := user_file.bare():
        wish = replace(wish, **_launched(user_file, kernels[0], wish))  # type: ignore[arg-type]
    _, notes = make_task(settings, wish, folder)
    return StartingPoint(str(folder), notes=notes, has_own_kernel=user_file.is_kernel)


def prepare_in(settings: Settings, user_file: UserFile, folder: Path, force: bool) -> StartingPoint:
    """Make the task in the result's folder; UsageError where that is there, unless it may be written over."""
    from app.new_folder import refuse_taken

    if folder.exists() and not force:
        raise UsageError(f"{folder} is there already: give --force to write over it, or another place with --out")
    if (folder / TASK / "task.toml").is_file():
        shutil.rmtree(folder / TASK)
    if not user_file.is_task and not user_file.is_candidate:
        refuse_taken(folder / TASK)
    return prepare(settings, user_file, folder / TASK)


def _launched(user_file: UserFile, kernel: BareKernel, wish: object) -> dict[str, object]:
    """Write the host half of a kernel that has none."""
    from app.kernel_tasks import reference_of
    from imports.bare_kernel import StatedLaunch, as_cuda, host_half, parameter_text
    from imports.declared_inputs import declared
    from imports.kernel_request import parameters_of

    inputs = declared(user_file.inputs, user_file.sizes)
    reference = reference_of(user_file.reference)
    if reference is None:
        raise UsageError(f"{user_file.source} does not say what it computes: give --reference FILE.py:FUNCTION")
    _, names = parameters_of(str(reference.path), reference.head, reference.function)
    missing = [p.name for p in kernel.pointers if p.name not in inputs.specs]
    missing += [n for n in kernel.reals if n not in inputs.numbers] + [n for n in kernel.sizes if n not in inputs.sizes]
    if missing:
        raise UsageError(
            f"{user_file.source} does not say what {', '.join(missing)} are: give them with --input or --size"
        )
    buffers_before = [p.name for p in kernel.pointers if p.is_constant or p.name in names]
    text = host_half(kernel, inputs, StatedLaunch(user_file.grid, user_file.block), buffers_before)
    return {
        "host": as_cuda(text) if user_file.location.path.suffix in (".cu", ".cuh") else text,
        "parameters": parameter_text(kernel),
    }


def gate_of(text: str) -> tuple[float, float]:
    """Read a tolerance, `RTOL` or `RTOL,ATOL`; UsageError for another text."""
    try:
        numbers = [float(part) for part in text.split(",")]
    except ValueError:
        numbers = []
    if len(numbers) not in (1, 2) or not all(0 <= n < 1 for n in numbers):
        raise UsageError(f"--tolerance takes RTOL or RTOL,ATOL, each from 0 to 1, such as 1e-3,1e-5, not {text!r}")
    return numbers[0], numbers[-1]


def form_of_task(task: Task) -> ExportForm:
    """Find the form in which the result goes back to its author."""
    form = task.provenance.form if task.provenance is not None else ""
    export_form = OTHER_FORMS.get(form, form)
    return export_form if export_form in get_args(ExportForm) else "hip"  # type: ignore[return-value]


@dataclass(frozen=True)
class OwnFiles:
    """The files of a result by their paths: the one to use, a line about them, and why they have no other form."""

    path: Path
    files: Mapping[Path, bytes]
    line: str
    remark: str = ""

    @property
    def folder(self) -> Path:
        """The folder of the result."""
        return next(p for p in self.files if p.name == "best.hip").parent


def own_files(settings: Settings, kernel: ExportedKernel, out: Path | None) -> OwnFiles:
    """Write a kernel in its author's form, with the kernel file itself beside it; in memory.

    The folder is named after the task where none is given.
    """
    from app.exporting import files_of
    from app.task_folders import open_task

    task = open_task(settings, kernel.task, kernel.target)
    form, name, folder = form_of_task(task), task.name, out or Path(f"{task.name}{FOLDER}")
    single = {"torch": f"{name}.py", "numpy": f"{name}.py", "kernelbench": f"{name}.py", "gpumode": "submission.py"}
    best, remark, files = folder / "best.hip", "", dict[Path, bytes]()
    try:
        path, files, line = files_of(settings, kernel, form, str(folder / single.get(form, "")))
    except UsageError as error:
        path, line, remark = best, "the kernel with its launch plan", str(error)
    main = next((p for p in files if p.stem == name and p.suffix in (".hip", ".cu", ".py")), path)
    return OwnFiles(main, {**files, best: kernel.source.encode()}, line, remark)


def write_result(settings: Settings, run_id: str, out: Path | None, force: bool) -> OwnFiles:
    """Write the best kernel of a run in its author's form, the kernel file itself and the report into the folder."""
    from app.exporting import kernel_of_run, write_new

    result = own_files(settings, kernel_of_run(settings, run_id), out)
    write_new(result.files, force)
    report = settings.runs_folder / run_id / "report.html"
    if report.is_file():
        shutil.copyfile(report, result.folder / report.name)
    return result
