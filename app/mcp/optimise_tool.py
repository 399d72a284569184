"""The tools by which a coding agent brings a kernel or a function of its own."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from app.mcp.tool_arguments import File, Most, Place, Target, Text
from app.mcp.tool_faults import tool_errors
from app.mcp.tool_results import OptimisationBegun, RunBegun, TaskMade
from records.errors import UsageError

if TYPE_CHECKING:
    from app.mcp.workspace import ClientFolder
    from app.settings import Settings

Call = Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]
LANGUAGES = {".py": "python", ".hip": "hip", ".cu": "cuda", ".cpp": "hip"}
Words = Annotated[list[Annotated[str, Field(max_length=200)]] | None, Field(max_length=40)]
Inputs = Annotated[
    list[Annotated[str, Field(max_length=200)]] | None,
    Field(max_length=40, description="each as x=f32[rows,cols], ids=i64[rows]:vocab (below vocab) or eps=1e-5"),
]


Name = Annotated[str, Field(max_length=60, pattern="^([A-Za-z][A-Za-z0-9_]*)?$")]
SourceText = Annotated[Text, Field(description="the text of a Python, HIP or CUDA file")]
Language = Annotated[Literal["python", "hip", "cuda", ""], Field(description="of source; of a file its ending says it")]
Function = Annotated[str, Field(max_length=100, description="the function or kernel, of several")]
OwnSizes = Annotated[dict[str, int] | None, Field(description="to be fast for, as {'rows': 4096}")]
ReferenceText = Annotated[Text, Field(description="of a kernel: the text of a NumPy function of what it computes")]


def making_tools(
    settings: Settings, workspace: ClientFolder, make: Call, begin: Callable[..., Awaitable[RunBegun]]
) -> dict[str, Callable[..., Awaitable[Any]]]:
    """Return the tools by name; `make` answers a call in a process of its own, `begin` is the tool `run`."""
    make_task = task_tool(settings, workspace, make)
    return {"make_task": make_task, "optimise": optimise_tool(make_task, begin)}


def task_tool(settings: Settings, workspace: ClientFolder, make: Call) -> Callable[..., Awaitable[TaskMade]]:
    """Return the tool that makes a task alone."""

    async def make_task(
        source: SourceText = "",
        file: File = "",
        language: Language = "",
        function: Function = "",
        inputs: Inputs = None,
        sizes: OwnSizes = None,
        reference: ReferenceText = "",
        reference_file: File = "",
        grid: Words = None,
        block: Words = None,
        name: Name = "",
    ) -> TaskMade:
        """Make a kernel or function of yours a task, to be shown, checked and searched by its name.

        A PyTorch or NumPy function needs inputs and sizes; a kernel without host code also grid and block, as
        ceil_div(n, 256); every kernel a reference. What is missing is named, with values to start from.
        """
        with tool_errors(settings):
            texts = texts_of(workspace, (source, file), (reference, reference_file), language)
        words = {"function": function, "inputs": inputs, "sizes": sizes, "grid": grid, "block": block, "name": name}
        fields = {n: v for n, v in {**texts, **words}.items() if v}
        made = await make({"call": "make_task", "user_text": fields, "kernels": []})
        return TaskMade(task=made["task"], notes=made["notes"])

    return make_task


def optimise_tool(
    make_task: Callable[..., Awaitable[TaskMade]], begin: Callable[..., Awaitable[RunBegun]]
) -> Callable[..., Awaitable[OptimisationBegun]]:
    """Return the tool that makes a task and begins a run."""

    async def optimise(
        source: SourceText = "",
        file: File = "",
        language: Language = "",
        function: Function = "",
        inputs: Inputs = None,
        sizes: OwnSizes = None,
        reference: ReferenceText = "",
        reference_file: File = "",
        grid: Words = None,
        block: Words = None,
        name: Name = "",
        target: Target = "mi300x",
        on: Place = "auto",
        author: Literal["playbook", "llm"] = "playbook",
        generations: Annotated[int, Field(ge=1, le=100)] = 3,
        limits: Most = None,
    ) -> OptimisationBegun:
        """Make a kernel or function of yours a task, as make_task does, and begin to search.

        status follows it, export with the form own ends it.
        """
        brought = source, file, language, function, inputs, sizes, reference, reference_file, grid, block, name
        task = await make_task(*brought)
        begun = await begin(task.task, target, on, author, generations, limits=limits)
        more = "; take the result with export, form own"
        fields = {**begun.model_dump(), "next": begun.next + more}
        return OptimisationBegun(**fields, task=task.task, notes=task.notes)

    return optimise


def texts_of(
    workspace: ClientFolder, source: tuple[str, str], reference: tuple[str, str], language: str
) -> dict[str, str]:
    """Read what a client brings, each as a text or as a file of the workspace; UsageError where it cannot be."""
    for text, file in (source, reference):
        if text and file:
            raise UsageError("give the text or a file of it, one of the two")
    if not any(source):
        raise UsageError("give the kernel or function as source or as file, one of the two")
    source_text, reference_text = (workspace.read(file) if file else text for text, file in (source, reference))
    return {"source": source_text, "reference": reference_text, "language": language_of(source[1], language)}


def language_of(file: str, language: str) -> str:
    """Return the language that was named, or that the file's ending says; UsageError where nothing does."""
    ending = file[file.rfind(".") :] if "." in file else ""
    name = language or LANGUAGES.get(ending, "")
    if not name:
        raise UsageError(f"say which language it is: python, hip or cuda ({file or 'the source'} does not)")
    return name
