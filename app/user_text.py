"""What somebody brings as text, through Python, MCP or the served graph: kept once, by its content, with its task."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.optimising import TASK, StartingPoint, UserFile, prepare
from app.run_request import checked_fields
from records.errors import UsageError

if TYPE_CHECKING:
    from app.settings import Settings

FOLDER = "tasks"  # in the folder of the runs, which rest on it
SUFFIXES = {"python": ".py", "hip": ".hip", "cuda": ".cu"}
NOTES = "notes.json"
KINDS: Mapping[str, tuple[type, ...]] = {
    **dict.fromkeys(("source", "language", "function", "reference", "tolerance", "name"), (str,)),
    **dict.fromkeys(("inputs", "outputs", "grid", "block"), (list, tuple)),
    "sizes": (dict,),
}


@dataclass(frozen=True)
class UserText:
    """A file's text and all that is said of it, as `optimise` takes it."""

    source: str
    language: str = "python"  # python, hip or cuda
    function: str = ""
    inputs: tuple[str, ...] = ()
    sizes: tuple[str, ...] = ()
    reference: str = ""  # the text of a Python file
    outputs: tuple[str, ...] = ()
    grid: tuple[str, ...] = ()
    block: tuple[str, ...] = ()
    tolerance: str = ""
    name: str = ""

    @property
    def title(self) -> str:
        """The name of the task: as was given, or of the function or kernel where there is one."""
        return self.name or self.function or self._only_entry() or "brought"

    def _only_entry(self) -> str:
        from imports.bare_kernel import bare_kernels
        from imports.python_entry import entry_names

        is_python = self.language == "python"
        names = entry_names(self.source) if is_python else [k.name for k in bare_kernels(self.source)]
        return names[0] if len(names) == 1 else ""


def user_text_of(fields: Mapping[str, Any]) -> UserText:
    """Read plain data; UsageError names the first thing that cannot be."""
    stated = checked_fields(fields, KINDS, "a source")
    sizes = tuple(f"{name}={value}" for name, value in stated.pop("sizes", {}).items())
    texts: dict[str, Any] = {n: tuple(map(str, v)) if isinstance(v, list | tuple) else v for n, v in stated.items()}
    user_text = UserText(sizes=sizes, **texts)
    if user_text.language not in SUFFIXES:
        raise UsageError(f"the language of a source is one of {', '.join(SUFFIXES)}, not {user_text.language!r}")
    return user_text


def task_of_text(settings: Settings, user_text: UserText) -> StartingPoint:
    """Make the task, or take the one that was made of the same before; UsageError says what is missing."""
    digest = hashlib.sha256(json.dumps(asdict(user_text), sort_keys=True).encode()).hexdigest()
    folder = settings.runs_folder / FOLDER / f"{user_text.title}-{digest[:8]}"
    if (folder / NOTES).is_file():
        notes = json.loads((folder / NOTES).read_text(encoding="utf-8"))
        return StartingPoint(str(folder / TASK), (), tuple(notes), user_text.language != "python")
    shutil.rmtree(folder, ignore_errors=True)  # of one that did not end
    folder.mkdir(parents=True)
    try:
        prepared = prepare(settings, _on_disk(user_text, folder), folder / TASK)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise
    (folder / NOTES).write_text(json.dumps(prepared.notes), encoding="utf-8")
    return prepared


def user_task(settings: Settings, name: str) -> str:
    """Return the folder of a task that was made so, by the name that `task_name` gives; empty where there is none."""
    folder = settings.runs_folder / FOLDER / name
    is_name = re.fullmatch(r"[A-Za-z]\w*-[0-9a-f]{8}", name) is not None
    return str(folder / TASK) if is_name and (folder / NOTES).is_file() else ""


def task_name(prepared: StartingPoint) -> str:
    """Return the short name of such a task."""
    return Path(prepared.task).parent.name


def _on_disk(user_text: UserText, folder: Path) -> UserFile:
    """Write the files; UsageError where something is left open."""
    file = folder / f"{user_text.title}{SUFFIXES[user_text.language]}"
    file.write_text(user_text.source, encoding="utf-8")
    reference = ""
    if user_text.reference:
        (folder / "reference.py").write_text(user_text.reference, encoding="utf-8")
        reference = str(folder / "reference.py")
    words = user_text.inputs, user_text.sizes, reference, user_text.outputs, user_text.grid, user_text.block
    source = f"{file}:{user_text.function}" if user_text.function else str(file)
    complete = UserFile(source, *words, tolerance=user_text.tolerance, name=user_text.title)
    _refuse_open(complete)
    return complete


def _refuse_open(user_text: UserFile) -> None:
    """UsageError with what is missing, in the fields of a request."""
    from app.open_questions import with_offers

    offered, subjects = with_offers(user_text)
    if subjects:
        fields: Sequence[str] = ("inputs", "grid", "block")
        words = [f"{name} {json.dumps(getattr(offered, name))}" for name in fields if getattr(offered, name)]
        words += [f"sizes {json.dumps(dict(s.split('=') for s in offered.sizes))}"] if offered.sizes else []
        words += (
            ["reference, the text of a Python file with a function of what it computes"] if offered.reference else []
        )
        raise UsageError(f"the source does not say {', '.join(subjects)}: give {'; '.join(words)}, or other values")
