"""Events of a run as they happen, one class a kind. `usd` is what the run has cost so far."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from kernel_scientist.search_result import SearchResult


@dataclass(frozen=True, kw_only=True)
class GenerationBegun:
    """A generation begins; 0 judges the seeds."""

    generation: int
    of: int
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Selected:
    """The kernel to build on is chosen, and one to learn from."""

    generation: int
    base: str
    reference: str | None = None
    why: str = ""
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Planned:
    """The experiments of a generation are chosen; `experiments` are their ids."""

    generation: int
    experiments: str = ""
    avenues: str = ""
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class StageBegun:
    """A stage of an experiment begins, for the draft of this number."""

    generation: int
    experiment: str
    stage: str
    number: int = 0
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class AttemptMade:
    """A kernel was judged: accepted, tried, rejected, duplicate or failed."""

    generation: int
    experiment: str
    attempt: str
    status: str
    geomean_us: float | None = None
    time_kind: str | None = None
    code: str = ""
    stage: str = ""
    reason: str = ""
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class NewBest:
    """A kernel takes the lead; the speed-ups are over the best seed as tuned and over the naive one."""

    generation: int
    attempt: str
    best_us: float
    time_kind: str
    over_seed: float
    over_naive: float
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Warned:
    """Something is wrong that does not stop the run."""

    message: str
    generation: int = 0
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Stopped:
    """The run ends."""

    generation: int
    reason: str
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class OtherEvent:
    """An event of another kind, as it is written into the run's diary."""

    kind: str
    fields: Mapping[str, Any] = field(default_factory=dict)
    usd: float = 0.0


@dataclass(frozen=True, kw_only=True)
class Finished:
    """The last event: the result, also of a run that is paused."""

    result: SearchResult


RunEvent: TypeAlias = (
    GenerationBegun | Selected | Planned | StageBegun | AttemptMade | NewBest | Warned | Stopped | OtherEvent | Finished
)
_KINDS: Mapping[str, type] = {
    "generation": GenerationBegun,
    "selected": Selected,
    "planned": Planned,
    "stage": StageBegun,
    "attempt": AttemptMade,
    "best": NewBest,
    "warning": Warned,
    "stopped": Stopped,
}


def event_of(payload: Mapping[str, Any]) -> RunEvent:
    """Make the typed event of one that the graph told."""
    kind = _KINDS.get(str(payload["event"]))
    if kind is None:
        other_fields = {name: value for name, value in payload.items() if name not in ("event", "usd")}
        return OtherEvent(kind=str(payload["event"]), fields=other_fields, usd=float(payload.get("usd", 0.0)))
    field_names = {f.name for f in fields(kind)}
    event: RunEvent = kind(**{name: value for name, value in payload.items() if name in field_names})
    return event
