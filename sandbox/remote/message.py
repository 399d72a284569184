"""Questions to a worker and its answers: plain JSON that states everything it depends on, named by its content.

One request carries everything that a fresh source may need next, so that a kernel costs one round trip.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from records.codec import dumps, from_plain
from records.computed_once import computed_once
from records.errors import SpoolError
from records.evaluation import Comparison, Contender, Evaluation, Rival
from records.outside_text import cleaned_value
from sandbox.candidate.prepare import Prepared
from sandbox.candidate.tuning import Tuning

FORMAT = 1  # of the files and messages
MOST_BYTES = 16 << 20  # as Python objects some twenty times that
Sent = TypeVar("Sent")


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

    edges: tuple[Mapping[str, int], ...] = ()  # held-out shapes beside the thresholds of a table of kernels

    @computed_once
    def hash(self) -> str:
        """Hash everything above by SHA-256: equal questions have one name."""
        return hashlib.sha256(dumps(self).encode()).hexdigest()

    def key(self, prepared: Prepared) -> str:
        """Compute the evaluation key of a candidate; asker and worker compute the same."""
        basis = [prepared.id, prepared.tunables, self.digest, self.target, self.spool, self.harness, self.seed]
        return hashlib.sha256(dumps([*basis, *self.edges]).encode()).hexdigest()


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


def pack(message: Request | Result) -> bytes:
    """Pack a record as a file or message: its format, its digest, itself."""
    body = dumps(message)
    head = {"format": FORMAT, "digest": hashlib.sha256(body.encode()).hexdigest()}
    return json.dumps({**head, "body": json.loads(body)}, sort_keys=True, ensure_ascii=True).encode()


def unpack(kind: type[Sent], data: bytes) -> Sent:
    """Read what `pack` wrote; SpoolError says in a few words what is wrong with it."""
    try:
        message = json.loads(data)
        if not isinstance(message, dict) or message.get("format") != FORMAT:
            raise SpoolError("is of another format: use one version of the program on both sides")
        if hashlib.sha256(dumps(message["body"]).encode()).hexdigest() != message["digest"]:
            raise SpoolError("is damaged")
        record = from_plain(kind, cleaned_value(message["body"]))
        if not is_typed(record, kind):
            raise SpoolError("has fields of other types")
        return record
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError):
        raise SpoolError("is torn or damaged") from None


def is_typed(value: object, kind: Any) -> bool:
    """Tell whether all texts, numbers and truths of a record are what its fields say; the codec checks their shape."""
    if isinstance(kind, type) and is_dataclass(kind):
        hints = _hints(kind).items()
        return isinstance(value, kind) and all(is_typed(getattr(value, name), hint) for name, hint in hints)
    origin, args = get_origin(kind), get_args(kind)
    if origin is tuple:
        return isinstance(value, tuple) and all(is_typed(item, args[0]) for item in value)
    if origin in (Union, UnionType):
        return any(is_typed(value, option) for option in args)
    if origin is not None and isinstance(origin, type) and issubclass(origin, Mapping):
        pairs = value.items() if isinstance(value, Mapping) else ((1, None),)
        return all(isinstance(key, str) and is_typed(item, args[1]) for key, item in pairs)
    if kind in (int, float):
        return isinstance(value, (int, float) if kind is float else int) and not isinstance(value, bool)
    return isinstance(value, kind) if kind in (str, bool, type(None)) else True


@cache
def _hints(kind: type) -> dict[str, Any]:
    hints = get_type_hints(kind)
    return {attribute.name: hints[attribute.name] for attribute in fields(kind)}


def problem_of(result: Result, request: Request, pinned: Place | None) -> str:
    """Say why a result cannot be the answer to a request; empty when it can."""
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
