"""`tasks new`: a task made of somebody's PyTorch, NumPy or KernelBench file."""

from __future__ import annotations

import re
from hashlib import sha256
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.options import Json
from app.screen import emit, note, say
from records.errors import MachineError, PlanError, UsageError

if TYPE_CHECKING:
    from app.settings import Settings
    from imports.readers import ImportPlace, Specs
    from tasks.task import Task

LAB = "mi300x"  # the target whose kernels can be judged without a GPU
MOST_FLOPS = 1 << 26  # of the tests that a naive kernel is executed on while a person waits
WHOLE = {"i64": 1 << 63, "i32": 1 << 31, "i16": 1 << 15, "i8": 1 << 7, "u8": 1 << 8}  # their largest limits
NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
SPEC = re.compile(r"([A-Za-z_]\w*)=(f64|f32|f16|bf16|i64|i32|i16|i8|u8|bool)\[(\w[\w, *+/%-]*)\](?::(\w+))?")


Name = Annotated[str, typer.Argument(metavar="NAME", help="The new task's name.")]
From = Annotated[
    str,
    typer.Option(
        "--from",
        metavar="FILE[:FUNCTION]",
        help="A file with a PyTorch module or function, a NumPy function, a KernelBench problem, a FlashInfer-Bench "
        "definition, or HIP kernels with their host half; or a task folder of robust-kbench or GPU MODE.",
    ),
]
Inputs = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=TYPE[DIM,...][:LIMIT]",
        help="An input, in the function's order, where the file has no get_inputs(); whole numbers below a limit, as "
        "ids=i64[rows]:vocab.",
        show_default=False,
    ),
]
Sizes = Annotated[
    list[str] | None,
    typer.Option("--size", metavar="DIM=N,...", help="The sizes to be fast for, with --input.", show_default=False),
]
Reference = Annotated[
    str,
    typer.Option(
        "--reference",
        metavar="FILE.py[:FUNCTION]",
        help="A NumPy or PyTorch function of what a HIP file computes; its parameters have the names of the buffers.",
        show_default=False,
    ),
]
Outputs = Annotated[
    list[str] | None,
    typer.Option("--output", metavar="NAME", help="A buffer of a HIP file that is a result.", show_default=False),
]
Recorded = Annotated[
    bool,
    typer.Option(
        "--golden",
        help="Record the function's answers for a few draws in place of stating it in NumPy: weaker, for what cannot "
        "be traced.",
    ),
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
    reference: Reference = "",
    output: Outputs = None,
    golden: Recorded = False,
    out: Out = None,
    licence: Licence = "",
    commit: Commit = "",
    json: Json = False,
) -> None:
    """Make a task folder of a file: reference, cases, tolerance and, where possible, a naive kernel that passes."""
    from app.commands.new_folder import refuse_taken, whole_or_none
    from app.commands.tasks_of_kernel import KernelWish, make_of_kernel
    from app.settings import load_settings
    from app.task_folders import open_sound_task, task_cage
    from exports.gpumode_submission import ARGUMENTS
    from imports.confined import imported
    from imports.readers import KERNELS, form_of

    folder = _folder_of(name, out)
    refuse_taken(folder)
    import_place = _import_place(source)
    settings = load_settings()
    if import_place.path.suffix in KERNELS:
        wish = (reference, _specs(input_), _sizes(size), output or [], _origin(import_place, licence, commit), golden)
        _print_task(folder, *make_of_kernel(settings, KernelWish(name, import_place, *wish), folder), json)
        return
    if reference or output:
        raise UsageError(f"--reference and --output are for HIP files, and {import_place.path} is none")
    form = form_of(import_place)
    gathered = form.gather(import_place)
    origin = {"source": gathered.shown, "form": form.form, "licence": licence, "commit": commit}
    request = {
        **gathered.request(name, import_place.function, *_sized(input_, size)),
        "origin": {**origin, "digest": gathered.digest},
        "gate": form.gate,
        "golden": golden,
    }
    note(f"executing {gathered.path.name} once, confined: without network and without your files")
    draft = imported(request, task_cage(settings))
    extra = {**gathered.copies, **({ARGUMENTS: dumps(draft.arguments).encode()} if draft.arguments else {})}
    with whole_or_none(folder):
        for file, content in {**draft.files, **extra}.items():
            (folder / file).parent.mkdir(parents=True, exist_ok=True)
            (folder / file).write_bytes(content)
        task, notes = with_right_seed(settings, folder, open_sound_task(settings, str(folder.absolute())))
    _print_task(folder, task, (*draft.notes, *notes), json)


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


def _origin(source: ImportPlace, licence: str, commit: str) -> dict[str, str]:
    digest = sha256(source.head.encode()).hexdigest()
    return {"source": source.path.name, "licence": licence, "commit": commit, "digest": digest}


def _print_task(folder: Path, task: Task, notes: tuple[str, ...], json: bool) -> None:
    if json:
        seeds = [p.name for p in task.seeds]
        emit({"folder": str(folder), "name": task.name, "notes": list(notes), "seeds": seeds})
        return
    _show(folder, task, notes)


def _folder_of(name: str, out: Path | None) -> Path:
    if not NAME.fullmatch(name):
        raise UsageError(f"the name of a task is letters, digits and underscores, not {name!r}")
    return out or Path(name)


def _show(folder: Path, task: Task, notes: tuple[str, ...]) -> None:
    from app.commands.tasks_command import detail

    detail(task, task.targets[0])
    for text in (f"operations: {task.flops}", f"bytes: {task.bytes_moved}", *notes):
        say(f"  {text}")
    tolerance = task.tolerance
    gate = (
        f", and every element within {tolerance.rtol:g} of its size plus {tolerance.atol:g}" if tolerance.rtol else ""
    )
    say(f"  tolerance: {tolerance.ratio:g} times the error of the same in the task's own types{gate}")
    say(f"{folder}: sound; next: kernel-scientist run {folder if folder.is_absolute() else f'./{folder}'}")


def _import_place(source: str) -> ImportPlace:
    from imports.readers import ImportPlace

    path, _, function = source.rpartition(":") if re.search(r":[A-Za-z_]\w*$", source) else (source, "", "")
    file = Path(path)
    if not file.is_file() and not file.is_dir():
        why = "is no file" if file.exists() else "is not there"
        raise UsageError(f"{file} {why}; --from takes FILE or FILE:FUNCTION")
    return ImportPlace(file, function)


def _specs(texts: list[str] | None) -> Specs:
    specs = {}
    for text in texts or []:
        match = SPEC.fullmatch(text.strip())
        dims = [part.strip() for part in match[3].split(",")] if match else []
        if match is None or not all(dims):
            raise UsageError(f"--input takes NAME=TYPE[DIM,...] such as x=f32[rows,cols], not {text[:80]!r}")
        if match[4] and match[2] not in WHOLE:
            raise UsageError(f"{match[1]} is {match[2]}, and only whole numbers ({', '.join(WHOLE)}) have a limit")
        specs[match[1]] = (match[2], dims, match[4] or "")
    return specs


def _sized(inputs: list[str] | None, size_options: list[str] | None) -> tuple[Specs, dict[str, int]]:
    """Both, where every dim has a size; a number is its own."""
    from tasks.expressions import evaluate, names_in

    specs, sizes = _specs(inputs), _sizes(size_options)
    dims = [dim for _, shape, limit in specs.values() for dim in (*shape, limit) if dim]
    sizes_named = dict.fromkeys(name for dim in dims for name in sorted(names_in(dim)))
    if missing := [dim for dim in sizes_named if dim not in sizes]:
        raise UsageError(f"--input names {', '.join(missing)}, and no --size does: give --size {missing[0]}=4096")
    if ambiguous := [name for name in specs if name in sizes]:
        raise UsageError(f"the name {ambiguous[0]!r} stands for a size and for an input; rename one of them")
    try:
        least = min((evaluate(dim, sizes) for dim in dims), default=1)
    except PlanError as error:
        raise UsageError(f"--input: {error}") from None
    if least < 1:
        raise UsageError("an input of --input has no elements or values: its sizes are 1 or more, and so is its limit")
    for name, (dtype, _, limit) in specs.items():
        most = evaluate(limit or "0", sizes)
        if limit and most > WHOLE[dtype]:
            raise UsageError(f"{name} is {dtype}, which holds no numbers up to its limit {most}: give a wider type")
    return specs, sizes


def _sizes(texts: list[str] | None) -> dict[str, int]:
    sizes = {}
    for part in (p for text in texts or [] for p in text.split(",")):
        name, _, value = part.partition("=")
        if not value.strip().isdigit() or not int(value):
            raise UsageError(f"--size takes DIM=N,... such as rows=4096,cols=1024, not {part[:80]!r}")
        sizes[name.strip()] = int(value)
    return sizes
