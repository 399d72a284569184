"""The arguments that several tools take, each with its type, its bounds and its words."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from app.mcp.workspace import MOST_FILE_BYTES

LimitName = Literal["budget_usd", "max_tokens", "max_calls", "max_evaluations", "max_gpu_seconds", "max_wall_seconds"]
TaskName = Annotated[str, Field(max_length=200, description="a name of list_tasks, or a task folder in the workspace")]
Target = Annotated[str, Field(max_length=40, description="the GPU: mi300x; h200 where this machine has one")]
Place = Annotated[
    Literal["lab", "device", "auto"], Field(description="the lab, a GPU of this machine, or what there is")
]
Source = Annotated[
    str, Field(max_length=MOST_FILE_BYTES, description="the kernel file's text: HIP source with its launch plan")
]
File = Annotated[str, Field(max_length=400, description="instead of source: a file in the workspace")]
Tunables = Annotated[dict[str, int] | None, Field(description="other values than the file's defaults")]
Shapes = Annotated[
    list[Annotated[str, Field(max_length=200)]] | None,
    Field(max_length=8, description="further shapes to verify, each as DIM=N,DIM=N"),
]
Most = Annotated[
    dict[
        Literal["budget_usd", "max_tokens", "max_calls", "max_evaluations", "max_gpu_seconds", "max_wall_seconds"],
        Annotated[float, Field(ge=0)],
    ]
    | None,
    Field(description="limits of the whole run by name: what it may use at most; those left out stay"),
]
ExportedForm = Literal["file", "own"]
Text = Annotated[str, Field(max_length=MOST_FILE_BYTES)]
RunName = Annotated[str, Field(max_length=200, description="a run's id, the beginning of one, or last")]
