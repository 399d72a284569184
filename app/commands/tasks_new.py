"""`tasks new`: a task made of somebody's PyTorch, NumPy or KernelBench file."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any

import typer

from app.commands.options import Json
from app.screen import emit, note, say
from records.errors import UsageError

MOST_BYTES = 1 << 20
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SPEC = re.compile(r"([A-Za-z_]\w*)=(f64|f32|f16|bf16|i64|i32|bool)\[([A-Za-z_][\w, ]*)\]")


Name = Annotated[str, typer.Argument(metavar="NAME", help="The new task's name.")]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE[:FUNCTION]",
        help="A PyTorch module or function, a NumPy function or a KernelBench problem, in a file.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TYPE[DIM,...]",
        help="An input, in the function's order, where the file has no get_inputs().",
        show_default=False,
    ),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="DIM=N,...", help="The sizes to be fast for, with --input.", show_default=False),
]
Out = Annotated[
    Path | None, typer.Option("--out", metavar="DIR", help="The new folder; ./NAME by default.", show_default=False)
]
Licence = Annotated[str, typer.Option("--licence", help="The licence of the file, as SPDX writes it.")]
Commit = Annotated[str, typer.Option("--commit", help="The commit of its repository.")]


def command(
    name: Name,
    source: From,
    input_: Inputs = None,
    size: Sizes = None,
    out: Out = None,
    licence: Licence = "",
    commit: Commit = "",
    json: Json = False,
) -> None:
    """Make a task folder of a file: reference, cases, tolerance and, where possible, a naive kernel that passes."""
    from app.imports.readers import form_of
    from app.settings import load_settings
    from app.task_folders import open_sound_task, task_cage

    folder = _new_folder(name, out)
    path, function = _place(source)
    text = _text(path)
    settings = load_settings()
    form = form_of(path, text, function)
    digest = hashlib.sha256(text.encode()).hexdigest()
    specs, sizes = _specs(input_ or []), _sizes(size or [])
    request = {
        "name": name,
        "title": function or path.stem.replace("_", " ").strip(),
        "source": {"path": path.name, "text": text, "function": function, "specs": specs, "sizes": sizes},
        "origin": {"source": path.name, "form": form.form, "licence": licence, "commit": commit, "digest": digest},
        "gate": form.gate,
    }
    note(f"executing {path.name} once, confined: without network and without your files")
    made = form.read(request, task_cage(settings))
    folder.mkdir(parents=True)
    for file, content in made.files.items():
        (folder / file).write_bytes(content)
    task = open_sound_task(settings, str(folder.absolute()))
    if json:
        seeds = [p.name for p in task.seeds]
        emit({"folder": str(folder), "name": task.name, "notes": list(made.notes), "seeds": seeds})
        return
    _show(folder, task, made.notes)


def _new_folder(name: str, out: Path | None) -> Path:
    if not NAME.fullmatch(name):
        raise UsageError(f"the name of a task is letters, digits and underscores, not {name!r}")
    folder = out or Path(name)
    if folder.exists():
        raise UsageError(f"{folder} is there already: choose another name, or another place with --out")
    return folder


def _show(folder: Path, task: Any, notes: tuple[str, ...]) -> None:
    from app.commands.tasks_command import detail

    detail(task, task.targets[0])
    for text in (f"operations: {task.flops}", f"bytes: {task.bytes_moved}", *notes):
        say(f"  {text}")
    tolerance = task.tolerance
    gate = (
        f", and every element within {tolerance.rtol:g} of its size plus {tolerance.atol:g}" if tolerance.rtol else ""
    )
    say(f"  tolerance: {tolerance.ratio:g} times the error of the same in the task's own types{gate}")
    say(f"{folder}: sound; next: kernel-scientist run ./{folder}")


def _place(source: str) -> tuple[Path, str]:
    path, _, function = source.rpartition(":") if re.search(r":[A-Za-z_]\w*$", source) else (source, "", "")
    found = Path(path)
    if found.is_dir():
        raise UsageError(f"{found} is a folder; give one file of it")
    if not found.is_file():
        raise UsageError(f"{found} is not there; --from takes FILE or FILE:FUNCTION")
    return found, function


def _text(path: Path) -> str:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than {MOST_BYTES:,} bytes, which no source file is")
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise UsageError(f"{path} cannot become a task: it is not Python: its bytes are no UTF-8 text") from None
    except OSError as error:
        raise UsageError(f"{path} cannot be read ({error.strerror})") from None


def _specs(texts: list[str]) -> dict[str, tuple[str, list[str]]]:
    found = {}
    for text in texts:
        match = SPEC.fullmatch(text.strip())
        if match is None:
            raise UsageError(f"--input takes NAME=TYPE[DIM,...] such as x=f32[rows,cols], not {text[:80]!r}")
        found[match[1]] = (match[2], [part.strip() for part in match[3].split(",")])
    return found


def _sizes(texts: list[str]) -> dict[str, int]:
    found = {}
    for part in (p for text in texts for p in text.split(",")):
        name, _, value = part.partition("=")
        if not value.strip().isdigit() or not int(value):
            raise UsageError(f"--size takes DIM=N,... such as rows=4096,cols=1024, not {part[:80]!r}")
        found[name.strip()] = int(value)
    return found
