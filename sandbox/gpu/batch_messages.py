"""Messages between the judge and a process that makes batches of a sweep for it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from sandbox.candidate.kernel import KernelMetadata
from sandbox.cases.sweep import SweptCase
from sandbox.target import Target
from tasks.task import Case


@dataclass(frozen=True)
class SweepRequest:
    """A candidate whose batches will be asked for. The secret is this candidate's own."""

    folder: str  # of the task
    digest: str  # of the task, or of the part of it that the candidate serves
    facts: str  # the folder with what is measured of tasks; empty for none
    source: str
    tunables: Mapping[str, int]
    kernels: tuple[KernelMetadata, ...]
    target: Target
    secret: str  # in hexadecimal digits
    first: Case  # which meets every family


@dataclass(frozen=True)
class MakeRequest:
    """The batch with this number, of so many cases."""

    number: int
    count: int


@dataclass(frozen=True)
class SweepReply:
    """The answer to a `SweepRequest`: whether the task and the candidate are the same there."""

    is_known: bool


@dataclass(frozen=True)
class MadeReply:
    """A batch; its inputs and its answers are the files. None of its cases: there are no more."""

    rows: tuple[SweptCase, ...]
    call: str
    elements: tuple[tuple[int, ...], ...]
    refused: SweptCase | None = None


MakerRequest = SweepRequest | MakeRequest
MAKER_REQUESTS: tuple[type[MakerRequest], ...] = get_args(MakerRequest)
