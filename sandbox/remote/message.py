"""Questions to a worker and its answers: plain JSON that states everything it depends on, named by its content.

One request carries everything that a fresh source may need next, so that a kernel costs one round trip.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

from records.codec import dumps, from_plain
from records.errors import SpoolError
from records.evaluation import Comparison, Contender, Evaluation, Rival
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning

FORMAT = 1  # of the files and messages
MOST_BYTES = 64 << 20
Parcel = TypeVar("Parcel")


@dataclass(frozen=True)
class Place:
    """The origin of answers. The results of one run come from one place only."""

    target: str
    device: str  # "NVIDIA H200 / driver 13.0 / sm_90a", "lab:mi300x"
    version: str  # what compiles and drives it

    @property
    def text(self) -> str:
        """For sentences."""
        return f"{self.device} with {self.version} for {self.target}"


@dataclass(frozen=True)
class Request:
    """One question to a worker: judge a source, or compare it with an incumbent."""

    harness: str
    target: str
    spool: str  # id of the folder or of the served worker: part of every key
    seed: int  # drives the held-out inputs
    task: str
    digest: str  # of the asker's copy of the task; the worker's must be the same
    source: str
    tunables: Mapping[str, int] | None = None
    purposes: tuple[str, ...] = ()  # compile, verify, benchmark, estimate; in this order until one says no
    tuning: Tuning | None = None  # search the tunables too, and judge what it finds
    rival: Rival | None = None  # compare what was found with it, where measured levels do not decide
    incumbent: Contender | None = None  # set for a comparison, with `source` as the challenger
    files: Mapping[str, str] = field(default_factory=dict)  # task.toml and reference.py of a task of one's own

    @cached_property
    def hash(self) -> str:
        """SHA-256 over everything above: equal questions have one name."""
        return hashlib.sha256(dumps(self).encode()).hexdigest()

    def key(self, prepared: Prepared) -> str:
        """The evaluation key of a candidate; asker and worker compute the same."""
        parts = [prepared.id, prepared.tunables, self.digest, self.target, self.spool, self.harness, self.seed]
        return hashlib.sha256(dumps(parts).encode()).hexdigest()


@dataclass(frozen=True)
class BundleEntry:
    """One evaluation of a bundle, under the asker's key."""

    purpose: str
    evaluation: Evaluation


@dataclass(frozen=True)
class Result:
    """A worker's answer to one request: a bundle of evaluations or a comparison, or why there is none."""

    request: str  # the request's hash
    harness: str
    worker: str
    place: Place
    entries: tuple[BundleEntry, ...] = ()
    comparison: Comparison | None = None  # asked for, or with the rival
    refusal: str = ""  # one sentence; then nothing else is set
    seconds: float = 0.0


def pack(parcel: Request | Result) -> bytes:
    """As a file or message: its format, its digest, itself."""
    body = dumps(parcel)
    head = {"format": FORMAT, "digest": hashlib.sha256(body.encode()).hexdigest()}
    return json.dumps({**head, "body": json.loads(body)}, sort_keys=True, ensure_ascii=True).encode()


def unpack(kind: type[Parcel], data: bytes) -> Parcel:
    """Read what `pack` wrote; SpoolError says in a few words what is wrong with it."""
    try:
        parcel = json.loads(data)
        if not isinstance(parcel, dict) or parcel.get("format") != FORMAT:
            raise SpoolError("is of another format: use one version of the program on both sides")
        if hashlib.sha256(dumps(parcel["body"]).encode()).hexdigest() != parcel["digest"]:
            raise SpoolError("is damaged")
        return from_plain(kind, parcel["body"])
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise SpoolError("is torn or damaged") from None


def problem_of(result: Result, request: Request, pinned: Place | None) -> str:
    """The reason why a result cannot be the answer to a request; empty when it can."""
    if result.request != request.hash:
        return f"answers another request ({result.request[:12]})"
    if result.harness != request.harness:
        return f"is stale: it was made by harness {result.harness}, this program has {request.harness}"
    if result.place.target != request.target:
        return f"is foreign: it is for {result.place.target}, not for {request.target}"
    if pinned is not None and result.place != pinned:
        return f"is foreign: it comes from {result.place.text}, the results before from {pinned.text}"
    if result.refusal:
        return ""
    if request.incumbent is None:
        return "" if result.entries else "is empty"
    return "" if result.comparison is not None else "holds no comparison"
