"""The forms that a task can be imported from: a row for each, the first that knows a place takes it."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from imports.board_folder import board_files
from imports.import_source import asks_for_torch
from imports.stated_inputs import Specs as Specs
from imports.stated_inputs import completed
from imports.trace_set import definition_of, workloads_of
from records.errors import UsageError
from records.model_scan import CASES, REGION

MOST_BYTES = 1 << 20
KERNELS = (".hip", ".cu", ".cuh", ".cpp", ".cc", ".c", ".h")


@dataclass(frozen=True)
class ImportPlace:
    """A place that `--from` names: a file or a folder, and the function behind the colon."""

    path: Path
    function: str = ""

    def has(self, name: str) -> bool:
        """Tell whether a folder has such a file."""
        return (self.path / name).is_file()

    @property
    def head(self) -> str:
        """The text of a file; empty for a folder."""
        return "" if self.path.is_dir() else text_of(self.path)


@dataclass(frozen=True)
class Gathered:
    """The files of a place: the one that is imported, those kept beside it, and what the import needs of them."""

    path: Path
    text: str
    kind: str = "file"  # a class of source
    more: Mapping[str, Any] = field(default_factory=dict)  # its further fields
    copies: Mapping[str, bytes] = field(default_factory=dict)  # copies in the task's folder, by name
    is_named: bool = False  # the file's name says what it computes

    @property
    def is_file(self) -> bool:
        """Tell whether it is a file of one function, which a name can choose."""
        return self.kind in ("file", "region")

    def request(self, name: str, function: str, specs: Specs, sizes: Mapping[str, int]) -> dict[str, Any]:
        """Make the part of an import's request that follows from the files; UsageError where no inputs are stated."""
        if self.is_file and not specs:
            specs, sizes = completed(self.text, str(self.path), function, name, sizes)
        title = function or (self.path.stem if self.is_named else name).replace("_", " ").strip()
        source = {**self.more, "kind": self.kind, "path": self.path.name, "text": self.text}
        source |= {"function": function if self.is_file else "", "specs": specs, "sizes": sizes}
        return {"name": name, "title": title, "source": source}

    @property
    def shown(self) -> str:
        """The file's name, with its folder's where that is the task."""
        return self.path.name if self.kind in ("file", "definition") else f"{self.path.parent.name}/{self.path.name}"

    @property
    def digest(self) -> str:
        """SHA-256 of the file that is imported."""
        return hashlib.sha256(self.text.encode()).hexdigest()


@dataclass(frozen=True)
class ImportForm:
    """One form: its name in `[origin]`, the places it takes, and the files it is made of."""

    form: str
    knows: Callable[[ImportPlace], bool]
    gather: Callable[[ImportPlace], Gathered]
    gate: tuple[float, float] | None = None  # relative and absolute tolerance that the form prescribes


def text_of(path: Path) -> str:
    """Read the text of a file; UsageError for what is none."""
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes, which no source file is")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot become a task: it is not Python: its bytes are no UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None


def _file(location: ImportPlace) -> Gathered:
    return Gathered(location.path, location.head)


def _problem(location: ImportPlace) -> Gathered:
    return replace(_file(location), is_named=True)


def _is_kernelbench(location: ImportPlace) -> bool:
    text = location.head
    return not location.function and all(
        part in text for part in ("class Model(", "def get_inputs(", "def get_init_inputs(")
    )


def _robust_folder(path: Path) -> Path:
    return path if path.is_dir() else path.parent


def _is_robust(location: ImportPlace) -> bool:
    folder = ImportPlace(_robust_folder(location.path))
    is_named = location.path.is_dir() or location.path.name == "func_forward.py"
    return is_named and folder.has("func_forward.py") and folder.has("config_forward.json")


def _robust(location: ImportPlace) -> Gathered:
    folder = _robust_folder(location.path)
    path, config = folder / "func_forward.py", text_of(folder / "config_forward.json")
    copies = {"original_config.json": config.encode()}
    return Gathered(path, text_of(path), "config", {"more": config}, copies)


def _is_board(location: ImportPlace) -> bool:
    return location.has("task.yml") or location.path.name == "task.yml"


def _board(location: ImportPlace) -> Gathered:
    folder = location.path if location.path.is_dir() else location.path.parent
    listing, modules = board_files(folder, text_of)
    text = text_of(folder / "reference.py")
    return Gathered(folder / "reference.py", text, "popcorn", {"modules": modules, "listing": listing})


def _is_definition(location: ImportPlace) -> bool:
    return location.path.suffix == ".json" or (location.path / "definitions").is_dir()


def _definition(location: ImportPlace) -> Gathered:
    path = definition_of(location.path, location.function)
    text = text_of(path)
    lines, copies = workloads_of(path, text)
    return Gathered(path, text, "definition", {"more": lines}, copies, is_named=True)


def _is_region(location: ImportPlace) -> bool:
    return location.path.name == REGION and (location.path.parent / CASES).is_file()


def _region(location: ImportPlace) -> Gathered:
    cases = text_of(location.path.parent / CASES)
    return Gathered(location.path, location.head, "region", {"more": cases}, {"original_cases.json": cases.encode()})


def _is_numpy(location: ImportPlace) -> bool:
    return not asks_for_torch("file", location.head)


FORMS = (
    ImportForm("robust-kbench", _is_robust, _robust, gate=(1e-5, 1e-5)),
    ImportForm("gpumode", _is_board, _board),
    ImportForm("flashinfer", _is_definition, _definition, gate=(1e-2, 1e-2)),
    ImportForm("kernelbench", _is_kernelbench, _problem, gate=(1e-4, 1e-4)),
    ImportForm("numpy", _is_numpy, _file),
    ImportForm("pytorch", _is_region, _region),
    ImportForm("pytorch", lambda location: True, _file),
)


def form_of(location: ImportPlace) -> ImportForm:
    """Find a place's form; UsageError for a folder that is none of them, and for a kernel, which states no task."""
    if location.path.suffix in KERNELS:
        raise UsageError(
            f"{location.path} is a kernel, and a task needs a statement of what it computes: import a PyTorch or NumPy "
            f"function of the same, put a launch plan in front of {location.path.name}, and check it against that task"
        )
    if location.path.is_dir() and not any(form.knows(location) for form in FORMS[:3]):
        raise UsageError(
            f"{location.path} is a folder of no form that is known: give a file, or a folder with func_forward.py and "
            "config_forward.json (robust-kbench), with task.yml (GPU MODE), or with definitions/ (FlashInfer-Bench)"
        )
    return next(form for form in FORMS if form.knows(location))
