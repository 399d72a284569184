"""`export`: Write a verified kernel for use elsewhere, or a run's attempts as a dataset."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from app.commands.options import Json, On, TunableValues, known_runs, tunables_of
from app.screen import emit, say
from records.errors import UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from app.exporting import ExportedKernel, ExportForm
    from app.settings import Settings
    from records.artefacts import ArtefactStore
    from records.experiment import Run
    from records.ledger import Ledger

ChosenForm = Literal[
    "file",
    "own",
    "hip",
    "torch",
    "numpy",
    "kernelbench",
    "robust-kbench",
    "gpumode",
    "flashinfer",
    "hf-kernels",
    "arena",
]

FORMS = (
    "file: the .hip file itself; own: a folder with the form of the file that the task was made of; hip: a folder with "
    "launcher, self-check and CMake file; torch: a Python module for PyTorch; numpy: one for NumPy arrays; the others: "
    "the form of KernelBench, robust-kbench, GPU MODE, FlashInfer-Bench, Hugging Face's kernel-builder and "
    "AgentKernelArena."
)

BackwardKernel = Annotated[
    str,
    typer.Option(
        "--backward",
        metavar="RUN|FILE",
        help="With --as torch: the kernel that gives the gradients; PyTorch's autograd calls it.",
        show_default=False,
    ),
]
BackwardTask = Annotated[
    str, typer.Option("--backward-task", help="Of a file given to --backward: its task.", show_default=False)
]
Place = Annotated[
    str | None,
    typer.Option(
        "--out",
        help="Its place, or a folder for the file; by default the run's folder, or a name with the task's and the "
        "form's here.",
        show_default=False,
    ),
]


def command(
    kernel: Annotated[
        str,
        typer.Argument(
            metavar="RUN|FILE",
            help="A run, of which the best kernel is taken (an id, the beginning of one, or `last`), or a .hip file.",
            show_default=False,
            autocompletion=known_runs,
        ),
    ],
    as_: Annotated[ChosenForm, typer.Option("--as", help=FORMS)] = "file",
    dataset: Annotated[
        bool, typer.Option("--dataset", help="Of a run: its attempts, to LangSmith where a key is set, or to a file.")
    ] = False,
    task: Annotated[str, typer.Option("--task", help="Of a file: a task's name or folder.", show_default=False)] = "",
    target: Annotated[str, typer.Option("--target", help="Of a file: the GPU it is for.")] = "mi300x",
    on: On = "lab",
    unchecked: Annotated[bool, typer.Option("--unchecked", help="Of a file: ask for no verdict first.")] = False,
    backward: BackwardKernel = "",
    backward_task: BackwardTask = "",
    set_: TunableValues = None,
    out: Place = None,
    force: Annotated[bool, typer.Option("--force", help="Write over files of an earlier export.")] = False,
    json: Json = False,
) -> None:
    """Write a verified kernel: the file, or with a generated host half for use outside of this project."""
    from app.settings import load_settings

    settings, is_file = load_settings(), Path(kernel).is_file()
    if not is_file and (task or set_ or (unchecked and not backward_task)):
        raise UsageError(f"{kernel} is no file here, and a run has its own task and tunables: leave these options")
    if is_file and (dataset or as_ in ("file", "own")):
        raise UsageError(f"{kernel} is a file: name a form, such as --as hip or --as torch, or give a run")
    if is_file and not task:
        raise UsageError(f"name the task that {kernel} is for: --task NAME")
    _check_backward(backward, backward_task, as_)
    if dataset and as_ != "file":
        raise UsageError("a dataset has one form: leave --as or --dataset out")
    if as_ == "own":
        answer, line = _export_own(settings, kernel, out, force)
    elif dataset or as_ == "file":
        answer, line = _export_of_run(settings, kernel, dataset, out, force)
    else:
        chosen = tunables_of(set_ or [])
        file = _KernelFile(Path(kernel), task, target, on, chosen, unchecked) if is_file else None
        first = _KernelChoice(kernel, file)
        second = _backward_choice(backward, backward_task, target, on, unchecked)
        answer, line = _export_for_elsewhere(settings, first, second, as_, out, force)
    emit(answer) if json else say(line)


@dataclass(frozen=True)
class _KernelFile:
    """A kernel file with the options that it needs."""

    path: Path
    task: str
    target: str
    on: str
    tunables: Mapping[str, int]
    unchecked: bool


@dataclass(frozen=True)
class _KernelChoice:
    """A run by its name, or a file with its options."""

    name: str
    file: _KernelFile | None

    def on(self, target: str) -> _KernelChoice:
        """Return the same for this GPU, which a run has for itself."""
        return self if self.file is None else replace(self, file=replace(self.file, target=target))

    def kernel(self, settings: Settings) -> ExportedKernel:
        """Return the kernel; a file's after the verdict on it."""
        from app.exporting import kernel_of_file, kernel_of_run

        if (file := self.file) is None:
            return kernel_of_run(settings, self.name)
        words = (file.path, file.task, file.target, file.on, file.tunables, file.unchecked)
        return kernel_of_file(settings, *words)


def _backward_choice(backward: str, task: str, target: str, on: str, unchecked: bool) -> _KernelChoice | None:
    """Return the kernel of the gradients; None where there is none."""
    if not backward:
        return None
    return _KernelChoice(backward, _KernelFile(Path(backward), task, target, on, {}, unchecked) if task else None)


def _check_backward(backward: str, task: str, form: ChosenForm) -> None:
    """UsageError for options that do not go together."""
    if (backward or task) and form != "torch":
        raise UsageError("only PyTorch has a backward pass: --backward goes with --as torch")
    if task and not backward:
        raise UsageError("--backward-task is of a file: name the file with --backward")
    if backward and Path(backward).is_file() != bool(task):
        missing = f"name the task that {backward} is for: --backward-task NAME"
        raise UsageError(f"{backward} is no file here: leave --backward-task out" if task else missing)


def _export_for_elsewhere(
    settings: Settings,
    first: _KernelChoice,
    second: _KernelChoice | None,
    form: ExportForm,
    out: str | None,
    force: bool,
) -> tuple[dict[str, Any], str]:
    """Write the kernel with its host half, and with that of its backward kernel; return an answer and a line."""
    from app.exporting import files_of, write_new

    kernel = first.kernel(settings)
    backward = second.on(kernel.target).kernel(settings) if second else None
    path, files, line = files_of(settings, kernel, form, out, backward)
    write_new(files, force)
    return {"path": str(path), "form": form, "files": [str(path) for path in files]}, f"{path}: {line}"


def _export_of_run(
    settings: Settings, name: str, dataset: bool, out: str | None, force: bool
) -> tuple[dict[str, Any], str]:
    """Write the best kernel's file or the dataset; return an answer and a line."""
    from app.wiring import find_run, open_records
    from exports.place import place_of, refuse_there

    ledger, artefacts = open_records(settings, create=False)
    with ledger:
        run = find_run(ledger, name)
        write, default = (_dataset, "dataset.jsonl") if dataset else (_kernel, "best.hip")
        path = None if out is None else place_of(out, Path(default), "--dataset" if dataset else "export")
        if path is not None:
            refuse_there([path], force)
        answer, line = write(settings, ledger, artefacts, run, path)
    return {"run_id": run.id, **answer}, line


def _export_own(settings: Settings, name: str, out: str | None, force: bool) -> tuple[dict[str, Any], str]:
    """Write a run's best kernel as `optimise` does."""
    from app.optimising import write_result
    from app.wiring import find_run, open_records

    ledger, _ = open_records(settings, create=False)
    with ledger:
        run = find_run(ledger, name)
    result = write_result(settings, run.id, Path(out) if out else None, force)
    return {"path": str(result.path), "form": "own", "files": [str(p) for p in result.files]}, (
        f"{result.path}: {result.line}"
    )


def _kernel(
    settings: Settings, ledger: Ledger, artefacts: ArtefactStore, run: Run, out: Path | None
) -> tuple[dict[str, Any], str]:
    from app.session import summary, write_text

    folder = settings.runs_folder / run.id
    best = summary(ledger, run, folder, 0.0).best
    attempt = None if best is None else ledger.attempt(run.id, best.id)
    if attempt is None:
        raise UsageError(f"the run {run.id} has no verified kernel yet")
    path = out or folder / "best.hip"
    write_text(path, artefacts.text(attempt.source))
    return {"path": str(path), "attempt": attempt.id}, str(path)


def _dataset(
    settings: Settings, ledger: Ledger, artefacts: ArtefactStore, run: Run, out: Path | None
) -> tuple[dict[str, Any], str]:
    from app.dataset import examples_of, lines_of, send
    from app.session import write_text

    examples = examples_of(settings, ledger, artefacts, run)
    if out is None and settings.langsmith_api_key is not None:
        address, added = send(settings, run, examples)
        return {"dataset": address, "examples": len(examples), "added": added}, (
            f"{address}: {counted(len(examples), 'example')}, {added} of them new"
        )
    path = out or settings.runs_folder / run.id / "dataset.jsonl"
    write_text(path, lines_of(examples).decode())
    return {"path": str(path), "examples": len(examples)}, f"{path}: {counted(len(examples), 'example')}"
