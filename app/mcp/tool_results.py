"""The answers of the tools, as a client's schema has them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field


class TaskRow(BaseModel):
    """A task in a line."""

    name: str
    title: str
    targets: list[str]


class TaskSheet(BaseModel):
    """All that a writer of kernels needs to know of a task."""

    name: str
    title: str
    description: str
    target: str
    target_brief: str
    inputs: list[dict[str, Any]]
    outputs: list[dict[str, Any]]
    scalars: list[dict[str, Any]]
    multiples: list[dict[str, Any]] = Field(description="dims that are always multiples of something")
    tests: list[str] = Field(description="shapes that are verified, beside held-out ones that nobody is told")
    benchmarks: list[str] = Field(description="shapes that are timed, with their weights")
    flops: str
    bytes: str
    tolerance_ratio: float = Field(description="error allowed, in multiples of the baseline's own")
    seeds: list[str]
    seed_source: str = Field(description="the naive seed: the form that a kernel file has")
    reference: str = Field(description="the Python text that defines the right result")


class FindingRow(BaseModel):
    """One thing to act on."""

    kind: str
    message: str
    line: int | None = None
    kernel: str | None = None
    case: str | None = None
    advice: str = ""


class TimeRow(BaseModel):
    """The time of one benchmark case, cold: of a predicted one what a GPU is expected to show."""

    case: str
    time_us: float
    warm_us: float | None = Field(None, description="with the data still in the caches")
    bound_us: float | None = Field(None, description="predicted: no kernel of this code can beat it")
    roofline_us: float
    bound: str = Field(description="the resource that binds this time")
    resources_us: dict[str, float] = Field(description="what each alone would need")
    stalls_us: dict[str, float] = Field({}, description="where the predicted time goes, by cause")


class KernelVerdict(BaseModel):
    """The verdict on one kernel, with evidence on its cost where it has times."""

    accepted: bool
    stage: str
    code: str
    meaning: str
    findings: list[FindingRow]
    more_findings: int = 0
    wrong_cases: list[dict[str, Any]] = Field(description="cases whose result is wrong; held-out ones without shape")
    right_cases: int
    tunables: dict[str, int]
    time_kind: Literal["predicted", "measured", "none"]
    geomean_us: float | None
    time_error: float | None = Field(None, description="relative error of a ratio of two predicted times")
    times: list[TimeRow]
    resources: list[dict[str, Any]]
    counters: dict[str, float]
    hot_lines: list[dict[str, Any]]
    explanation: str


class MachineListing(BaseModel):
    """The inner loops of a kernel in machine code."""

    compiles: bool
    findings: list[FindingRow]
    text: str
    resources: list[dict[str, Any]]


class SideBySide(BaseModel):
    """Two kernels: which is faster, and the evidence beside each other."""

    left: KernelVerdict
    right: KernelVerdict
    verdict: Literal["faster", "slower", "same", "undecided", "not comparable"] = Field(
        description="of the right one; predicted times within their error are the same"
    )
    speedup: float | None = Field(description="of the right kernel over the left one")
    text: str


class Explanation(BaseModel):
    """A code, a kind of finding, a resource or an attempt in words."""

    about: str
    text: str
    verdict: KernelVerdict | None = None


class NoteRow(BaseModel):
    """A passage of the notes."""

    title: str
    section: str
    source: str
    text: str


class NoteKept(BaseModel):
    """A note as the literature has it."""

    id: str
    title: str
    passages: int
    status: str = Field(description="added, replaced, or unchanged where the same text is there")


class TaskMade(BaseModel):
    """A task that was made of what the client brought."""

    task: str = Field(description="the task's name, for check, show_task and run")
    notes: list[str] = Field(description="what the import decided, such as parameters that stay as they are")


class RunBegun(BaseModel):
    """A run that works in a process of its own."""

    run_id: str
    pid: int
    next: str


class OptimisationBegun(RunBegun):
    """A run on a task that was made of what the client brought."""

    task: str = Field(description="the task's name, for check, show_task and run")
    notes: list[str] = Field(description="what the import decided, such as parameters that stay as they are")


class BestKernel(BaseModel):
    """The fastest verified kernel of a run."""

    run_id: str
    headline: str = Field(description="the gain over the kernel that the run was begun for, else over its best seed")
    change: str = Field(description="what was done to that kernel, in a line")
    advice: str = Field(description="where much of the roofline is left: what binds, and what would go on")
    attempt: str
    source: str
    tunables: dict[str, int]
    geomean_us: float
    time_kind: str
    speedup_over_seed: float | None
    speedup_over_naive_seed: float | None
    is_seed: bool
    time_error: float = 0.0


class FileWritten(BaseModel):
    """A file that was written into the workspace."""

    path: str
    bytes: int
    files: list[str] = Field(default=[], description="of the form `own`: all of them")
