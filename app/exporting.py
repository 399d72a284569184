"""A kernel of a run or of a file, written in one of the forms of this package."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import typer

from app.screen import note
from app.verdict import show
from records.errors import UsageError
from records.quantity import counted

if TYPE_CHECKING:
    from app.settings import Settings
    from exports.launcher import Launcher
    from exports.provenance import Provenance
    from records.evaluation import Evaluation
    from sandbox.target import Target

ExportForm = Literal[
    "hip", "torch", "numpy", "kernelbench", "robust-kbench", "gpumode", "flashinfer", "hf-kernels", "arena"
]
_SUFFIXES = {  # of the default place; with .py a file, without it a folder
    "hip": "_hip",
    "torch": "_torch.py",
    "numpy": "_numpy.py",
    "kernelbench": "_kernelbench.py",
    "robust-kbench": "_robust_kbench",
    "gpumode": "_submission.py",
    "flashinfer": "_flashinfer",
    "hf-kernels": "_hf",
    "arena": "_arena",
}


@dataclass(frozen=True)
class ExportedKernel:
    """A kernel to export, and what is known of it."""

    source: str
    tunables: Mapping[str, int]
    task: str
    target: str
    run: str = ""  # run and attempt
    evaluation: Evaluation | None = None


def files_of(
    settings: Settings,
    kernel: ExportedKernel,
    form: ExportForm,
    out: str | None,
    backward: ExportedKernel | None = None,
) -> tuple[Path, dict[Path, bytes], str]:
    """Give the place, the files with their contents, and a line about them. `backward` is for the form `torch`."""
    from exports.place import place_of
    from sandbox.target import load_target

    target = load_target(kernel.target)
    launcher, provenance = launched(settings, kernel, target)
    if backward is None:
        texts = _rendered(form, launcher, target, provenance, kernel.source, kernel.tunables)
    else:
        texts = [("", _with_backward(launcher, provenance, launched(settings, backward, target), target))]
    out_path = place_of(out, Path(f"{launcher.name}{_SUFFIXES[form]}"), f"--as {form}")
    files = {
        out_path / path if path else out_path: text.encode() if isinstance(text, str) else text for path, text in texts
    }
    title = launcher.task.title.rstrip(".") + (" and its gradients" if backward else "")
    frozen = f"; frozen: {', '.join(provenance.frozen)}" if provenance.frozen else ""
    return out_path, files, f"{title} for the {target.title}, {counted(len(files), 'file')}{frozen}"


def launched(settings: Settings, kernel: ExportedKernel, target: Target) -> tuple[Launcher, Provenance]:
    """Return the kernel with its host half, and where it comes from."""
    from app.task_folders import open_task
    from exports.launcher import Launcher
    from exports.signature import frozen_texts
    from sandbox.candidate.prepare import Preparer

    if kernel.target != target.name:
        raise UsageError(f"the backward kernel is for {kernel.target}, the other one for {target.name}")
    task = open_task(settings, kernel.task, kernel.target)
    prepared = Preparer().prepare(kernel.source, task, kernel.tunables or None)
    launcher, title = Launcher(prepared, target), f"{target.title} ({target.arch})"
    return launcher, _provenance(kernel, prepared.id, title, frozen_texts(task, launcher.signature))


def _with_backward(
    launcher: Launcher, provenance: Provenance, backward: tuple[Launcher, Provenance], target: Target
) -> str:
    from exports.torch_module import Backward, torch_module
    from exports.torch_operator import TorchOperator

    other = Backward(TorchOperator(backward[0], target), backward[1])
    return torch_module(TorchOperator(launcher, target), provenance, other)


def _rendered(
    form: ExportForm, launcher: Launcher, target: Target, provenance: Provenance, source: str, chosen: Mapping[str, int]
) -> Iterable[tuple[str, str | bytes]]:
    """Paths and contents; the one path of a form that is a single file is empty."""
    from exports.torch_operator import TorchOperator

    if form == "hip":
        from exports.hip_project import hip_project

        return hip_project(launcher, target, provenance).items()
    if form == "numpy":
        from exports.numpy_module import numpy_module

        return [("", numpy_module(launcher, target, provenance))]
    if form == "arena":
        from exports.arena_task import arena_task
        from exports.kernel_text import with_defaults

        return arena_task(launcher, target, provenance, with_defaults(source, chosen)).items()
    operator = TorchOperator(launcher, target)
    if form == "torch":
        from exports.torch_module import torch_module

        return [("", torch_module(operator, provenance))]
    if form == "kernelbench":
        from exports.kernelbench_model import kernelbench_model

        return [("", kernelbench_model(operator, provenance))]
    if form == "gpumode":
        from exports.gpumode_submission import gpumode_submission

        return [("", gpumode_submission(operator, provenance))]
    if form == "flashinfer":
        from exports.flashinfer_trace import flashinfer_trace

        return flashinfer_trace(operator, provenance).items()
    if form == "robust-kbench":
        from exports.robust_kbench import robust_kbench

        return robust_kbench(operator, provenance).items()
    from exports.hf_kernel import hf_kernel

    return hf_kernel(operator, provenance).items()


def kernel_of_file(
    settings: Settings, path: Path, task: str, target: str, on: str, chosen: Mapping[str, int], unchecked: bool
) -> ExportedKernel:
    """Judge a file and return its kernel; exit 1 with the verdict where it is refused."""
    from app.judged import judge
    from sandbox.candidate.kernel_file import read_source

    source = read_source(path)
    if unchecked:
        return ExportedKernel(source, chosen, task, target)
    note(f"checking {path.name} on {on}")
    evaluation = judge(settings, source, task, target, on, tunables=chosen)
    if not evaluation.verdict.accepted:
        show(evaluation, source, path.name)
        raise typer.Exit(1)
    return ExportedKernel(source, chosen, task, target, evaluation=evaluation)


def kernel_of_run(settings: Settings, name: str) -> ExportedKernel:
    """Return the best kernel of a run."""
    from app.session import summary
    from app.wiring import find_run, open_records

    ledger, artefacts = open_records(settings, create=False)
    with ledger:
        run = find_run(ledger, name)
        best = summary(ledger, run, settings.runs_folder / run.id, 0.0).best
        if best is None:
            raise UsageError(f"the run {run.id} has no verified kernel yet")
        attempt = ledger.attempt(run.id, best.id)
        if attempt is None:
            raise UsageError(f"the run {run.id} has no attempt {best.id}")
        evaluation = ledger.evaluation(attempt.evaluation_key)
        origin = f"{run.id}, attempt {attempt.id}"
        return ExportedKernel(
            artefacts.text(attempt.source), attempt.tunables, run.task, run.target, origin, evaluation
        )


def source_of_run(settings: Settings, name: str, kernel_id: str = "") -> str:
    """Return the text of an attempt of a run, of the best one without an id."""
    from app.wiring import find_run, open_records

    if not kernel_id:
        return kernel_of_run(settings, name).source
    ledger, artefacts = open_records(settings, create=False)
    with ledger:
        run = find_run(ledger, name)
        attempt = ledger.attempt(run.id, kernel_id)
        if attempt is None:
            raise UsageError(f"the run {run.id} has no attempt {kernel_id[:60]!r}")
        return artefacts.text(attempt.source)


def _provenance(kernel: ExportedKernel, digest: str, target: str, frozen: tuple[str, ...]) -> Provenance:
    from exports.provenance import Provenance
    from records.ranking import mean_of

    evaluation = kernel.evaluation
    if evaluation is None:
        return Provenance(Path(kernel.task).name, target, digest, kernel.run, frozen=frozen)
    kind = evaluation.time_kind or ""
    means = "on a GPU" if kind == "measured" else "by execution in the lab, which interprets the GPU's code on a CPU"
    bound_us = mean_of(evaluation, "bound_us") if evaluation.measurements else 0.0
    facts = kernel.run, means, evaluation.geomean_us, kind, bound_us, frozen
    return Provenance(Path(kernel.task).name, target, digest, *facts)


def write_new(files: Mapping[Path, bytes], force: bool) -> None:
    """All files, or none where one is there already."""
    from exports.place import refuse_there

    refuse_there(files, force)
    for path, content in files.items():
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        except OSError as error:
            raise UsageError(f"{path} cannot be written ({error.strerror}): name another place with --out") from None
