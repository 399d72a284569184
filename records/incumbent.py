"""What a run was told to beat, and how its best kernel compares with it: events of the diary."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from records.evaluation import Contrast
from records.experiment import Event
from records.quantity import format_times, format_us

KIND = "incumbent"  # of the events


@dataclass(frozen=True)
class Beating:
    """One incumbent beside the best kernel; `speed` is the kernel's over the incumbent's, None where `why` says why."""

    name: str  # as the user named it: torch.compile, mine.hip
    attempt_id: str  # of the best kernel
    speed: float | None = None
    low: float | None = None  # the interval of a measured one
    high: float | None = None
    best_us: float | None = None
    incumbent_us: float | None = None
    time_kind: str = ""  # predicted | measured
    verdict: Contrast = "undecided"  # of the best kernel
    why: str = ""  # a sentence, where they were not compared

    @property
    def text(self) -> str:
        """For people: `0.92x of torch.compile (31.5 us -> 34.2 us measured)`."""
        if self.speed is None:
            return f"{self.name} was not timed: {self.why}"
        equal = "" if self.verdict in ("faster", "slower") else ", equal within the error"
        times = f"{format_us(self.incumbent_us)} -> {format_us(self.best_us)} {self.time_kind}{equal}"
        return f"{format_times(self.speed)} of {self.name} ({times})"

    @property
    def is_beaten(self) -> bool | None:
        """True where the best kernel is clearly faster; None where they were not compared."""
        return None if self.speed is None else self.verdict == "faster"

    @property
    def key(self) -> str:
        """The event's key."""
        return f"{KIND}:{self.attempt_id}:{self.name}"

    def payload(self) -> dict[str, Any]:
        """Return the event's fields."""
        return asdict(self)


def beatings(events: Iterable[Event], attempt_id: str) -> tuple[Beating, ...]:
    """Read what was found for this kernel, in the order in which it was asked."""
    rows: Iterable[Mapping[str, Any]] = (event.payload for event in events if event.kind == KIND)
    return tuple(Beating(**row) for row in rows if row["attempt_id"] == attempt_id)
