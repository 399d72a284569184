"""Finds and loads task folders: `task.toml`, `reference.py`, `seed*.hip`.

A seed whose name ends in `.TARGET.hip` is for that target alone and takes the place of one of the same name without.
"""

from __future__ import annotations

import hashlib
import inspect
import traceback
import types
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import TaskError
from records.files import read_strange
from tasks.in_order import in_order
from tasks.manifest import read_manifest
from tasks.recorded import FILE, MOST_BYTES
from tasks.roundings import WatchedNumpy, admitted
from tasks.task import Task

FOLDER = Path(__file__).parent
MOST_TEXT_BYTES = 1 << 20  # of a manifest, a reference or a seed
REQUIRED: Mapping[str, int] = {"make_inputs": 2, "reference": 2, "baseline": 2}  # parameters each takes
OPTIONAL: Mapping[str, int] = {"check": 3, "variants": 3, "shortcuts": 2, "within": 3}
# From a reference.py's path and text, and the bytes of the task's recorded answers, to its functions.
Host = Callable[[Path, str, bytes], Mapping[str, Any]]
# What a task author's Python may raise; a broken machine is none of these.
TASK_FAULTS = (
    SyntaxError,
    ImportError,
    NameError,
    AttributeError,
    TypeError,
    ValueError,
    LookupError,
    ArithmeticError,
    AssertionError,
    RuntimeError,
    OSError,
)


def task_names() -> list[str]:
    """Name all shipped tasks, sorted."""
    return sorted(path.parent.name for path in FOLDER.glob("*/task.toml"))


def load_task(name_or_path: str | Path, target: str | None = None, host: Host | None = None) -> Task:
    """Load a shipped task by name or any task folder by path, as it is for `target` (its first one when not given).

    The code of a folder that is not shipped runs where `host` puts it; without one it runs here, with all that this
    process may do. TaskError says in one sentence what is wrong.
    """
    folder = _find(name_or_path)
    _refuse_links(folder)
    manifest_path, code_path = folder / "task.toml", folder / "reference.py"
    manifest_bytes, code = _read(manifest_path), _read(code_path)
    manifest = read_manifest(manifest_path, _text(manifest_path, manifest_bytes))
    declared = manifest.statement
    chosen = declared.targets[0] if target is None else target
    if chosen not in declared.targets:
        raise TaskError(f"the task {declared.name} is not for {chosen}, but for {', '.join(declared.targets)}")
    statement, mark = manifest.adapted(chosen)
    answers = _read(folder / FILE, MOST_BYTES) if declared.golden is not None else b""
    if declared.golden is not None and hashlib.sha256(answers).hexdigest() != declared.golden.digest:
        raise TaskError(f"{folder / FILE} holds other answers than task.toml names: import the task again")
    digest = hashlib.sha256(b"\0".join(filter(None, (manifest_bytes, code, mark)))).hexdigest()
    text = _text(code_path, code)
    is_shipped = folder.parent == FOLDER
    functions = functions_of(code_path, text, digest) if host is None or is_shipped else host(code_path, text, answers)
    if bool(declared.variant_names) != ("variants" in functions):
        raise TaskError(
            f"{folder}: the list 'variants' in task.toml and the function 'variants' in reference.py "
            "belong together, and one of them is missing"
        )
    return Task(
        **{f.name: getattr(statement, f.name) for f in fields(statement)},
        folder=folder,
        digest=digest,
        seeds=_seeds(folder, chosen),
        **functions,
    )


def seed_text(path: Path) -> str:
    """Read the text of a task's own kernel; TaskError where there is none that can be read."""
    return _text(path, _read(path))


def _find(name_or_path: str | Path) -> Path:
    path = Path(name_or_path)
    if str(name_or_path) in task_names():
        return FOLDER / str(name_or_path)
    with suppress(OSError):  # of a name that is too long for any folder
        if path.is_dir():
            return path.resolve()
    choices = f"known are {', '.join(task_names())}, or give the path of a task folder"
    if isinstance(name_or_path, Path) or len(path.parts) > 1:
        raise TaskError(f"there is no task folder {str(path)!r}; {choices}")
    raise TaskError(f"there is no task {str(name_or_path)!r}; {choices}")


def _refuse_links(folder: Path) -> None:
    """Raise TaskError where a file of the task is a link; no link is followed on reading, whatever is there by then."""
    for path in (*folder.glob("*.toml"), *folder.glob("*.py"), *folder.glob("*.npz"), *folder.glob("*.hip")):
        if path.is_symlink():
            raise TaskError(f"{path} is a link: put the file itself there")


def _read(path: Path, most_bytes: int = MOST_TEXT_BYTES) -> bytes:
    try:
        return read_strange(path, most_bytes)
    except FileNotFoundError:
        raise TaskError(f"{path.parent} is not a task folder: it has no {path.name}") from None
    except OSError as error:
        raise TaskError(f"{path}: cannot be read: {error.strerror}") from None


def _text(path: Path, data: bytes) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise TaskError(f"{path}: is not UTF-8 text") from None


def _seeds(folder: Path, target: str) -> tuple[Path, ...]:
    seeds: dict[str, Path] = {}
    for path in sorted(folder.glob("seed*.hip")):  # `seed.hip` sorts behind `seed.h200.hip`, so the order is not enough
        name, _, of_target = path.name.removesuffix(".hip").partition(".")
        if of_target == target or (not of_target and name not in seeds):
            seeds[name] = path
    if "seed" not in seeds:
        if seeds:
            raise TaskError(f"{folder} has {min(p.name for p in seeds.values())}, but no seed.hip, the naive kernel")
        return ()  # an author with a model writes the first kernel, or a person gives one
    return seeds["seed"], *(seeds[name] for name in sorted(seeds) if name.startswith("seed_"))


def functions_of(path: Path, code: str, digest: str) -> dict[str, Any]:
    """Return the functions of a reference.py, executed in this process; TaskError names the line that fails."""
    module = _executed(path, code, digest)
    functions: dict[str, Any] = {}
    for name, count in {**REQUIRED, **OPTIONAL}.items():
        function = getattr(module, name, None)
        if function is None and name in OPTIONAL:
            continue
        if not callable(function):
            raise TaskError(f"{path}: the function {name!r} is missing")
        if not _takes(function, count):
            raise TaskError(f"{path}: {name!r} must take {count} arguments")
        functions[name] = function
    watched = _executed(path, code, digest)
    vars(watched).update({name: WatchedNumpy() for name, value in vars(watched).items() if value is np})
    admit = admitted(watched.reference, watched.baseline)
    return {**functions, "in_order": in_order(functions["baseline"]), "admit": admit}


def _executed(path: Path, code: str, digest: str) -> types.ModuleType:
    """Execute the text as a module; it was hashed as it is: no cached bytecode, and two folders never share one."""
    module = types.ModuleType(f"task_reference_{digest[:16]}")
    module.__file__ = str(path)
    try:
        exec(compile(code, str(path), "exec"), module.__dict__)
    except TASK_FAULTS as error:
        raise TaskError(f"{path}{_line(error, path)}: {type(error).__name__}: {error}") from None
    return module


def _takes(function: Callable[..., Any], count: int) -> bool:
    try:
        inspect.signature(function).bind(*range(count))
    except TypeError:
        return False
    return True


def _line(error: BaseException, path: Path) -> str:
    """Write `:12` for the line of this file that the error came through last, empty where there is none."""
    if isinstance(error, SyntaxError):
        return f":{error.lineno}"
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
    return f":{lines[-1]}" if lines else ""
