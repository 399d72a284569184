"""The most that a run may use: money, tokens, calls, evaluations, GPU and wall time. None is no limit, 0 is nothing."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from typing import Any, Self

from records.errors import UsageError
from records.experiment import Event

ALLOWED = "allowed"  # the kind of event by which a person changes a limit of a run


@dataclass(frozen=True)
class Allowance:
    """Limits of a whole run, what its earlier sessions used included."""

    budget_usd: float | None = None  # for the model, embeddings included
    max_tokens: int | None = None  # of prompts and answers together
    max_calls: int | None = None  # requests to the model, those whose answer was lost included
    max_evaluations: int | None = None  # compilations, estimates, verifications and benchmarks that the run has made
    max_gpu_seconds: float | None = None  # that a GPU works on them; the lab needs none
    max_wall_seconds: float | None = None  # of its driving processes; a paused run uses none

    @classmethod
    def of(cls, config: Mapping[str, Any]) -> Self:
        """Read the limits among other settings of a run."""
        return cls(**{name: config[name] for name in NAMES if config.get(name) is not None})

    def given(self) -> dict[str, int | float]:
        """Return the limits that there are, by name."""
        return {name: value for name in NAMES if (value := getattr(self, name)) is not None}

    def changed(self, events: Iterable[Event]) -> Self:
        """Return the limits after all that a run's diary says of them; of each the last word counts."""
        limits = dict[str, Any](self.given())
        for event in events:
            if event.kind == ALLOWED:
                limits |= {"budget_usd" if name == "usd" else name: value for name, value in event.payload.items()}
        return self.of(limits)


NAMES: tuple[str, ...] = tuple(field.name for field in fields(Allowance))
WORDS: Mapping[str, str] = {
    "budget_usd": "dollars for the model",
    "max_tokens": "tokens",
    "max_calls": "calls to the model",
    "max_evaluations": "evaluations",
    "max_gpu_seconds": "GPU seconds",
    "max_wall_seconds": "seconds of wall time",
}


def checked_allowance(requested: Mapping[str, Any]) -> Allowance:
    """Check the limits that were asked for; UsageError names the first that is no number from 0 on."""
    limits = dict[str, int | float]()
    for name in NAMES:
        value = requested.get(name)
        if value is None:
            continue
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        if not is_number or not math.isfinite(value) or value < 0:
            raise UsageError(f"{option_of(name)} is a number of {WORDS[name]} from 0 on, not {value!r}")
        if name in ("max_tokens", "max_calls", "max_evaluations") and value != int(value):
            raise UsageError(f"{option_of(name)} is a whole number of {WORDS[name]}, not {value!r}")
        is_whole = name in ("max_tokens", "max_calls", "max_evaluations")
        limits[name] = int(value) if is_whole else float(value)
    return Allowance.of(limits)


def option_of(name: str) -> str:
    """Name a limit's option on the command line."""
    return "--" + name.replace("_", "-")
