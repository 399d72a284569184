"""A stranger's Python, executed once in a process without network and without files, which leaves a task folder."""

from __future__ import annotations

import importlib.util
import json
import signal
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from imports.import_source import asks_for_torch
from imports.names import GENERATED
from records import scratch_folder
from records.errors import MachineError, UsageError
from records.outside_text import decoded
from sandbox.cage.output import UnusableOutput, read_output
from sandbox.cage.python_child import ENVIRONMENT, python_child
from sandbox.process import Completed, ProcessLimits, clean, run
from tasks.recorded import FILE
from tasks.recorded import MOST_BYTES as MOST_RECORDED

if TYPE_CHECKING:
    from sandbox.cage.confinement import Cage

PACKAGES = ("numpy", "ml_dtypes", "agents", "imports", "records", "tasks")
OPTIONAL = (  # of PyTorch
    "torch",
    *("torchgen", "functorch", "sympy", "mpmath", "networkx", "jinja2", "markupsafe", "fsspec", "filelock"),
    *("typing_extensions", "setuptools", "packaging", "pkg_resources", "_distutils_hack"),
)
LIBRARIES = "nvidia"  # beside PyTorch, where its wheel is one for CUDA: it loads them on the processor as well
PROCESSOR = (Path("/proc/cpuinfo"), Path("/sys/devices/system/cpu"))  # PyTorch's products of half precision ask for it
LIMITS = ProcessLimits(
    cpu_s=60,  # a problem of KernelBench takes 3 to 5
    data_bytes=1900 << 20,  # PyTorch writes to 0.4 GiB and keeps as much again
    file_bytes=64 << 20,
    resident_bytes=3 << 29,
    folder_bytes=256 << 20,
    threads=32,
    idle_s=20.0,
    patience_s=7200.0,
)
EACH_S = 40  # of processor time more for each further request of a process
ENDS = {
    "cpu": f"it does not end within {LIMITS.cpu_s} s of processor time",
    "memory": f"it takes more than {LIMITS.resident_bytes / (1 << 30):g} GiB of memory",
    "folder": "it writes more than an import may",
    "threads": "it starts too many threads",
    "stalled": "it waits for something that never comes",
    "output": "it prints more than an import may",
}
NO_MEMORY = ("MemoryError", "can't allocate memory", "Cannot allocate memory")  # what Python, PyTorch and libraries say
WRITTEN = ("task.toml", "reference.py", *GENERATED, FILE, "README.md")
OFTEN = (*GENERATED, FILE, "README.md")  # that not every import leaves
MOST_BYTES = 4 << 20


@dataclass(frozen=True)
class Imported:
    """The files of a task folder by name, and sentences about it."""

    files: Mapping[str, bytes]
    notes: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    other_sizes: Mapping[str, str] = field(default_factory=dict)  # sizes of the source that are no dims, over the dims


def has_torch() -> bool:
    """Tell whether the extra `torch` is installed."""
    return importlib.util.find_spec("torch") is not None


def needs_torch(request: Mapping[str, Any]) -> bool:
    """Tell whether an import is one of PyTorch; one of NumPy needs nothing that the set-up does not install."""
    return asks_for_torch(request["source"].get("kind", "file"), request["source"]["text"])


def imported(request: Mapping[str, Any], cage: Cage) -> Imported:
    """Run one import; UsageError with the reason where the file cannot become a task."""
    outcome = imported_all([request], cage)[0]
    if isinstance(outcome, str):
        raise UsageError(outcome)
    return outcome


def imported_all(requests: Sequence[Mapping[str, Any]], cage: Cage) -> list[Imported | str]:
    """Run imports one after the other in one process: tasks, or the sentences that say why there are none.

    The first that gives no answer has the end of the process for its reason; the others are asked for again.
    """
    if any(needs_torch(request) for request in requests) and not has_torch():
        raise UsageError(
            "this file is traced with PyTorch on the processor, which is not installed here: type "
            "kernel-scientist setup torch"
        )
    outcomes: list[Imported | str] = []
    while len(outcomes) < len(requests):
        outcomes += _run_batch(requests[len(outcomes) :], cage)
    return outcomes


def _run_batch(requests: Sequence[Mapping[str, Any]], cage: Cage) -> list[Imported | str]:
    """Run the first requests, one at least, and return their outcomes."""
    folder = scratch_folder.make("import")
    try:
        (folder / "request.json").write_text(json.dumps(requests), encoding="utf-8")
        for name in ("cache", *(f"task-{n}" for n in range(len(requests)))):  # no process in the cage makes folders
            (folder / name).mkdir()
        further = OPTIONAL if any(needs_torch(request) for request in requests) else ()
        limits = replace(LIMITS, cpu_s=LIMITS.cpu_s + EACH_S * (len(requests) - 1))
        process = run_child("imports.import_child", folder, cage, limits, further)
        outcomes = list[Imported | str]()
        while len(outcomes) < len(requests) and (folder / f"result-{len(outcomes)}.json").exists():
            outcomes.append(_outcome(folder, len(outcomes), requests[len(outcomes)]))
        if len(outcomes) < len(requests):
            outcomes.append(
                _refusal(requests[len(outcomes)], ENDS.get(process.end) or ended(process.returncode, process.stderr))
            )
        return outcomes
    finally:
        scratch_folder.remove(folder)


def run_child(
    module: str,
    folder: Path,
    cage: Cage,
    limits: ProcessLimits,
    further: Sequence[str] = OPTIONAL,
    readable: Sequence[Path] = (),
) -> Completed:
    """Run a module of ours in a cage that has the folder, these packages and these files; `folder/cache` is there."""
    packages = [*PACKAGES, *(name for name in further if importlib.util.find_spec(name) is not None)]
    view, argv = python_child(packages, module)
    torch = importlib.util.find_spec("torch") if further else None
    view = view.with_readable(*PROCESSOR, *readable, *libraries_beside(torch.origin if torch else None))
    environment = {**ENVIRONMENT, "HOME": str(folder), "TMPDIR": str(folder), "MKL_NUM_THREADS": "1"}
    environment["TORCHINDUCTOR_CACHE_DIR"] = str(folder / "cache")
    return run(argv, cwd=folder, env=environment, limits=limits, cage=cage, view=view.with_folder(folder))


def ended(returncode: int, stderr: str) -> str:
    """Say why a process has left no answer, of one that kept to its limits."""
    if returncode < 0:
        return f"its process crashed ({signal.Signals(-returncode).name})"
    lines = [line for line in clean(stderr).splitlines() if line.strip()]
    return f"its process ended without an answer ({lines[-1] if lines else 'silent'})"


def libraries_beside(origin: str | None) -> tuple[Path, ...]:
    """Find the folder of CUDA's libraries beside the package with this file; none if its wheel is for the processor."""
    folder = Path(origin).resolve().parents[1] / LIBRARIES if origin else None
    return (folder,) if folder is not None and folder.is_dir() else ()


def _outcome(folder: Path, number: int, request: Mapping[str, Any]) -> Imported | str:
    """Take the files that the process has left, as a stranger's word."""
    try:
        answer = decoded(read_output(folder / f"result-{number}.json", MOST_BYTES))
        if not isinstance(answer, dict):
            raise ValueError("no answer")
    except (OSError, ValueError, RecursionError):
        return _refusal(request, "its process left no usable answer")
    if "broken" in answer:
        raise MachineError(
            f"PyTorch cannot be used here: {clean(str(answer['broken']))}; install the extra `torch` again"
        )
    if "refused" in answer:
        reason = clean(str(answer["refused"]))
        return _refusal(
            request, f"{ENDS['memory']} ({reason})" if any(text in reason for text in NO_MEMORY) else reason
        )
    task_folder, files = folder / f"task-{number}", {}
    original = next((path.name for path in task_folder.glob("original*")), "original.py")
    for name in (*WRITTEN, original):
        try:
            files[name] = read_output(task_folder / name, MOST_RECORDED if name == FILE else MOST_BYTES)
        except UnusableOutput:
            if name not in OFTEN:
                return _refusal(request, f"its import left no {name}")
    other_sizes = answer.get("others")
    texts = {clean(str(n)): clean(str(v)) for n, v in other_sizes.items()} if isinstance(other_sizes, dict) else {}
    return Imported(files, _sentences(answer.get("notes")), _sentences(answer.get("arguments")), texts)


def _sentences(answer: object) -> tuple[str, ...]:
    return tuple(clean(str(sentence)) for sentence in answer) if isinstance(answer, list) else ()


def _refusal(request: Mapping[str, Any], reason: str) -> str:
    return f"{request['source']['path']} cannot become a task: {' '.join(reason.split())}"
