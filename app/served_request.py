"""The request for a served run: read from plain data, and written as its state and its record hold it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from app.program.author_command import stated_author
from app.run_request import RunRequest, checked_fields, checked_limits
from graph.serving import ServedState
from records.allowance import NAMES
from records.errors import UsageError
from records.experiment import Run

KINDS: Mapping[str, tuple[type, ...]] = {
    "task": (str,),
    "target": (str,),
    "on": (str,),
    "author": (str,),
    "seed": (int,),
    "limits": (dict,),
    "budget_usd": (int, float),
    "approve": (bool,),
    **dict.fromkeys((name for name in NAMES if name != "budget_usd"), (int, float)),
}
FIXED = ("task", "target", "on", "seed")  # results of two runs that differ in one of these have nothing in common


def request_of(fields: Mapping[str, Any]) -> RunRequest:
    """Read the request in plain data; UsageError names the first thing that cannot be."""
    fields = checked_fields(fields, KINDS, "a request")
    if not fields.get("task"):
        raise UsageError('the input names no task; give one, such as {"task": "row_softmax"}, or the text of a source')
    return RunRequest(
        task=fields["task"],
        target=fields.get("target", "mi300x"),
        on=fields.get("on", "auto"),
        author=fields.get("author"),
        seed=fields.get("seed", 0),
        budget_usd=fields.get("budget_usd"),
        limits=checked_limits(fields.get("limits", {})),
        approves=fields.get("approve", False),
        most={name: fields[name] for name in NAMES if name in fields},
    )


def request_text(run: Run, request: RunRequest) -> str:
    """Write the whole request, as the state and the run's record hold it: what was left open is filled in."""
    # Those of the model also where the author, who has no use for them, is none.
    allowance = {"budget_usd": request.budget_usd, **(request.most or {})}
    most = {name: value for name in NAMES if (value := run.config.get(name, allowance.get(name))) is not None}
    limits = dict(request.limits or {})
    chosen = {"task": request.task, "target": run.target, "on": run.on, "author": stated_author(run), "seed": run.seed}
    return plain({**chosen, "limits": limits, "approve": request.approves, **most})


def request_fields(state: ServedState) -> dict[str, Any]:
    """Return the request that a state holds."""
    return {name: state[name] for name in KINDS if state.get(name) is not None}  # type: ignore[literal-required]


def plain(value: Any) -> str:
    """Write plain data in one way."""
    return json.dumps(value, sort_keys=True)


def digest_of(value: Any) -> str:
    """Return the SHA-256 of plain data."""
    return hashlib.sha256(plain(value).encode()).hexdigest()
