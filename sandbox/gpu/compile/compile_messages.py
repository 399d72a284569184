"""Messages between the judge and a process that compiles for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True)
class Description:
    """The compiler that a process has found; its first message."""

    version: str  # "nvrtc 13.0"
    kind: str  # nvrtc | nvcc | hiprtc | hipcc
    fenced: bool  # it can open no file but those it needs
    include: str  # folder of the toolkit's own headers; "" when there is none or the compiler knows it
    build: str  # tells builds of the same version apart
    filtered: bool = False  # it can make none of the system calls that a compiler does not need


@dataclass(frozen=True)
class Job:
    """One source and how to compile it; `headers` maps include names to texts."""

    source: str
    name: str
    arch: str
    options: tuple[str, ...]
    headers: Mapping[str, str]
    names: tuple[str, ...] = ()  # kernels whose symbols are asked for
    cpu_s: int = 0  # that the process may use for it


@dataclass(frozen=True)
class JobReply:
    """The compiler's answer to a job."""

    image: str | None  # base64; None when the source does not compile
    log: str
    symbols: Mapping[str, str] = field(default_factory=dict)  # of the job's names


@dataclass(frozen=True)
class CompilerMissing:
    """There is no compiler that works: a sentence."""

    message: str


GREETINGS: tuple[type[Description | CompilerMissing], ...] = (Description, CompilerMissing)
ANSWERS: tuple[type[JobReply | CompilerMissing], ...] = (JobReply, CompilerMissing)
