"""The kernels of runs and files for the regions of a scan, and the package that puts them into the model."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from app.screen import note
from records.errors import UsageError
from records.model_scan import REGION, REGIONS, ModelRegion, ModelScan, read_pattern, read_scan

if TYPE_CHECKING:
    from app.exporting import ExportedKernel
    from app.settings import Settings
    from exports.models.package_files import RegionKernel
    from tasks.task import Task

SUFFIX = "_kernels"
BODY = "\ndef region("  # in a region's text, behind its sizes


@dataclass(frozen=True)
class KernelWord:
    """`[REGION=]RUN` or `[REGION=]FILE@TASK`, and behind a plus the run or file of the gradients."""

    region: str
    name: str
    task: str
    backward: str

    @classmethod
    def read(cls, text: str) -> KernelWord:
        """Read the word of the command."""
        kernel, _, backward = text.partition("+")
        region, equals, behind_equals = kernel.partition("=")
        name, _, task = (behind_equals if equals else kernel).partition("@")
        return cls(region if equals else "", name, task, backward)

    def kernel(self, settings: Settings, target: str, on: str, unchecked: bool) -> ExportedKernel:
        """Return the verified kernel; a file's after the verdict on it."""
        return _kernel(settings, self.name, self.task, target, on, unchecked)


def _kernel(settings: Settings, name: str, task: str, target: str, on: str, unchecked: bool) -> ExportedKernel:
    from app.exporting import kernel_of_file, kernel_of_run

    if not Path(name).is_file():
        return kernel_of_run(settings, name)
    if not task:
        raise UsageError(f"say which task {name} is for: {name}@TASK")
    return kernel_of_file(settings, Path(name), task, target, on, {}, unchecked)


def package_of(
    settings: Settings, folder: Path, words: Sequence[str], out: Path | None, target: str, on: str, unchecked: bool
) -> tuple[Path, dict[str, bytes], tuple[str, ...]]:
    """Give the package's place, its files, and sentences about kernels that will be used nowhere."""
    from exports.models.package_files import RegionKernel, holds_region, package_files
    from sandbox.target import load_target

    scan = read_scan(folder)
    if scan.source_kind == "trace":
        raise UsageError("a trace has no graph to put kernels into: scan the module itself")
    kernels, gpu, notes = list[RegionKernel](), "", list[str]()
    for word in map(KernelWord.read, words):
        kernel = word.kernel(settings, target, on, unchecked)
        if gpu and kernel.target != gpu:
            raise UsageError(f"one kernel is for {gpu}, another for {kernel.target}: a package is for one GPU")
        gpu = kernel.target
        if kernel.evaluation is None:
            notes.append(f"{word.name} was not verified here; the package takes every case of its task for verified")
        kernels += _region_kernels(settings, folder, scan, word, kernel, on, unchecked)
    notes += [
        f"{kernel.region.name}: its kernel was verified for other shapes or strides than the model's, and will be used "
        "nowhere in it"
        for kernel in kernels
        if not holds_region(kernel)
    ]
    name = re.sub(r"\W", "_", scan.model, flags=re.ASCII)
    package_path = out or Path(f"{name}{SUFFIX}")
    files = package_files(scan.model, package_path.resolve().name, kernels, load_target(gpu), settings.cache_folder)
    return package_path, files, tuple(notes)


def _region_kernels(
    settings: Settings,
    folder: Path,
    scan: ModelScan,
    word: KernelWord,
    kernel: ExportedKernel,
    on: str,
    unchecked: bool,
) -> list[RegionKernel]:
    """Join the kernel with the region that it is for, and with those of other sizes that its task serves, too."""
    from app.exporting import launched
    from app.task_folders import open_task
    from exports.models.package_files import RegionKernel
    from exports.torch_module import Backward
    from exports.torch_operator import TorchOperator
    from sandbox.target import load_target

    gpu, task = load_target(kernel.target), open_task(settings, kernel.task, kernel.target)
    regions = _named(scan, word.region) if word.region else _regions_of(folder, scan, task)
    if not regions:
        raise UsageError(
            f"the task {task.name} was made of no region of {folder}: say which region {word.name} is for, REGION="
            f"{word.name}"
        )
    launcher, provenance = launched(settings, kernel, gpu)
    backward = None
    if word.backward:
        name, _, its_task = word.backward.partition("@")
        other = launched(settings, _kernel(settings, name, its_task, kernel.target, on, unchecked), gpu)
        backward = Backward(TorchOperator(other[0], gpu), other[1])
    verified = () if kernel.evaluation is None else _verified(kernel)
    note(f"{word.name} is put in the place of {', '.join(region.name for region in regions)}")
    return [
        RegionKernel(
            region, read_pattern(folder, region.name), launcher, provenance, kernel.source, kernel.tunables,
            task.folder, verified, backward,
        )
        for region in regions
    ]  # fmt: skip


def _verified(kernel: ExportedKernel) -> tuple[str, ...]:
    """Name the cases that the verdict speaks of; one that was executed smaller stands for the whole."""
    assert kernel.evaluation is not None
    right = [row for row in kernel.evaluation.cases if row.correct]
    timed = [measurement.case for measurement in kernel.evaluation.measurements]
    return (*(row.stands_for or row.name for row in right), *timed)


def _named(scan: ModelScan, name: str) -> list[ModelRegion]:
    regions = [region for region in scan.regions if region.name == name]
    if not regions:
        raise UsageError(f"the scan has no region {name!r}; it has {', '.join(r.name for r in scan.regions)}")
    return regions


def _regions_of(folder: Path, scan: ModelScan, task: Task) -> list[ModelRegion]:
    """Find the regions whose text the task was made of, whatever their sizes."""
    digest = task.provenance.digest if task.provenance is not None else ""
    texts = dict[str, str]()
    for region in scan.regions:
        path = folder / REGIONS / region.name / REGION
        if path.is_file():
            texts[region.name] = path.read_text(encoding="utf-8")
    bodies = {text.partition(BODY)[2] for text in texts.values() if sha256(text.encode()).hexdigest() == digest}
    return [region for region in scan.regions if texts.get(region.name, "").partition(BODY)[2] in bodies - {""}]
