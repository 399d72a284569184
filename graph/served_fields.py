"""What a served run is asked for and what it answers: the fields of input, context and output with their schemas.

A form such as that of LangGraph Studio is drawn from them: each field has a description, and choices and a default
where there are such.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from langchain_core.messages import AnyMessage
from langgraph.graph.message import add_messages
from pydantic import Field, WithJsonSchema
from typing_extensions import TypedDict

from graph.run_limits import limits_schema
from sandbox.target import target_names
from tasks.loader import task_names

# Read once: annotations are texts, which a server evaluates anew for each schema, where it must not wait for a disk.
_TARGETS, _TASKS, _LIMITS = target_names(), task_names(), limits_schema()
_NO_LIMIT = "; no limit where it is left out"


class RunPreset(TypedDict, total=False):
    """Fields that an assistant may fix for all its runs; the input of a run overrides them."""

    target: Annotated[str, Field(description="the GPU", default="mi300x", json_schema_extra={"enum": _TARGETS})]
    on: Annotated[
        str,
        Field(
            description="where kernels are judged: the lab, a GPU of this machine, what there is, or spool:DIR, "
            "worker:HOST:PORT and ray elsewhere",
            default="auto",
            examples=["lab", "device", "auto"],
        ),
    ]
    author: Annotated[
        Literal["llm", "playbook"],
        Field(
            description="a language model, or known changes, which cost nothing; where it is left out, the model where "
            "one is configured"
        ),
    ]
    seed: Annotated[int, Field(description="the number behind random draws", default=0)]
    limits: Annotated[
        dict[str, int | float],
        WithJsonSchema({**_LIMITS, "description": "how far the search goes; what is left out has its default"}),
    ]
    budget_usd: Annotated[float, Field(description="the most that the model may cost, in dollars; else the settings'")]
    max_tokens: Annotated[int, Field(description=f"the most tokens of the model{_NO_LIMIT}")]
    max_calls: Annotated[int, Field(description=f"the most calls to the model{_NO_LIMIT}")]
    max_evaluations: Annotated[int, Field(description=f"the most kernels that are compiled or judged{_NO_LIMIT}")]
    max_gpu_seconds: Annotated[float, Field(description=f"the most seconds on a GPU{_NO_LIMIT}")]
    max_wall_seconds: Annotated[float, Field(description=f"the most seconds of the whole run{_NO_LIMIT}")]
    approve: Annotated[
        bool, Field(description="ask before experiments, and before money above the budget", default=False)
    ]


class RunInput(RunPreset, total=False):
    """A request for a run: in words, as a task, or as the text of a kernel or function with what it does not say."""

    messages: Annotated[
        list[AnyMessage],
        Field(
            description="a request in words, such as `make this faster:` with the code, a file of the server's machine "
            "or a task's name, and what the code does not say, as x=f32[rows,cols] rows=4096; the answer follows it"
        ),
        add_messages,
    ]
    task: Annotated[str, Field(description="a task's name or folder", examples=_TASKS)]
    source: Annotated[str, Field(description="in place of a task: the text of a Python, HIP or CUDA file")]
    language: Annotated[
        Literal["python", "hip", "cuda"], Field(description="the language of the source", default="python")
    ]
    function: Annotated[str, Field(description="the function or kernel of the source, of several")]
    inputs: Annotated[
        list[str],
        Field(description="each input of the source: type and dims, or a number", examples=[["x=f32[rows,cols]"]]),
    ]
    sizes: Annotated[
        dict[str, int], Field(description="the dims to be fast for", examples=[{"rows": 4096, "cols": 1024}])
    ]
    reference: Annotated[
        str, Field(description="of a kernel: the text of a NumPy or PyTorch function of what it computes")
    ]
    outputs: Annotated[
        list[str], Field(description="the buffers that the kernel writes, where its code does not say it")
    ]
    grid: Annotated[
        list[str],
        Field(description="of a kernel without host code: expressions of sizes", examples=[["ceil_div(n, 256)"]]),
    ]
    block: Annotated[list[str], Field(description="of a kernel without host code", examples=[["256"]])]
    tolerance: Annotated[str, Field(description="RTOL or RTOL,ATOL in place of the usual one", examples=["1e-3,1e-5"])]
    name: Annotated[str, Field(description="a name for the task that is made of the source")]


class RunOutput(TypedDict, total=False):
    """The outcome of a run. A number is 0 and a text empty where there is none, as in a run without a right kernel."""

    run_id: Annotated[str, Field(description="names the run in the command line, on the page and over MCP")]
    generation: Annotated[int, Field(description="the last generation")]
    gain: Annotated[float, Field(description="times the speed of the kernel brought, else of the best seed")]
    headline: Annotated[str, Field(description="the gain in words, with both times")]
    best_id: Annotated[str, Field(description="the fastest verified kernel")]
    best_us: Annotated[float, Field(description="its time in microseconds, a geometric mean over the benchmark cases")]
    time_kind: Annotated[Literal["predicted", "measured", ""], Field(description="by the lab, or measured on a GPU")]
    best_source: Annotated[str, Field(description="its text: HIP with its launch plan")]
    files: Annotated[
        dict[str, str], Field(description="the result in the form of what was brought: texts by file name")
    ]
    main_file: Annotated[str, Field(description="the file of these to use")]
    change: Annotated[str, Field(description="what was changed, in one line")]
    diff: Annotated[str, Field(description="the change as a unified diff")]
    roofline: Annotated[float, Field(description="the share of the speed of light that is reached")]
    bounds: Annotated[list[str], Field(description="the resources that bind the kernel")]
    advice: Annotated[str, Field(description="what would go on from here")]
    stop: Annotated[str, Field(description="why the run ended; empty while it goes on")]
    result: Annotated[dict[str, Any], Field(description="the object of `kernel-scientist run --json`")]
    messages: Annotated[list[AnyMessage], Field(description="the request in words, and the answer"), add_messages]


BLANK: RunOutput = {
    "generation": 0,
    "gain": 0.0,
    "headline": "",
    "best_id": "",
    "best_us": 0.0,
    "time_kind": "",
    "best_source": "",
    "files": {},
    "main_file": "",
    "change": "",
    "diff": "",
    "roofline": 0.0,
    "bounds": [],
    "advice": "",
    "stop": "",
    "result": {},
}
