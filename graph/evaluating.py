"""Verdicts, times and comparisons: the ledger is asked first, the sandbox only for what is not known yet."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from typing import Any

from graph.context import Context, Deferred
from records.codec import dumps
from records.errors import DeviceError, LabError
from records.evaluation import Comparison, Contender, Evaluation, Rival, comparison_key
from records.experiment import Attempt
from records.ledger import Purpose
from records.ranking import interval_of
from sandbox.candidate.tuning import Tuning

_HEADER = re.compile(r"/\*\+\+\+(.*?)\+\+\+\*/", re.DOTALL)


def evaluate(context: Context, purpose: Purpose, source: str, tunables: Mapping[str, int] | None = None) -> Evaluation:
    """The stored evaluation of this source, choice and purpose, or a new one, stored before it is used."""
    task = context.assignment.task
    key = context.sandbox.key(source, task, tunables)
    known = context.ledger.evaluation(key, purpose)
    if known is not None:
        return known
    made: Evaluation = getattr(context.sandbox, purpose)(source, task, tunables)
    if made.key != key:
        raise LabError(f"the sandbox answered for key {made.key[:12]} when asked for {key[:12]}; please report this")
    return context.ledger.add_evaluation(context.run.id, made, purpose)


def announce(context: Context, source: str, tuning: Tuning, leader_id: str) -> None:
    """Tell a sandbox that answers later what will be asked of a source, so that one round trip brings it all."""
    if isinstance(context.sandbox, Deferred):
        context.sandbox.announce(source, context.assignment.task, tuning, _rival(context, leader_id))


def _rival(context: Context, leader_id: str) -> Rival | None:
    """The kernel that leads, where it was measured: predicted times need no comparison."""
    leader = next((a for a in context.ledger.attempts(context.run.id) if a.id == leader_id), None)
    known = None if leader is None else context.ledger.evaluation(leader.evaluation_key)
    if leader is None or known is None or known.time_kind != "measured":
        return None
    return Rival(Contender(context.artefacts.text(leader.source), leader.tunables), *interval_of(known))


def compare(context: Context, challenger: Attempt, incumbent: Attempt) -> Comparison:
    """The stored comparison of two accepted attempts, or a new one, stored before it is used."""
    key = comparison_key(challenger.evaluation_key, incumbent.evaluation_key)
    known = context.ledger.comparison(key)
    if known is not None:
        return known
    new, old = (Contender(context.artefacts.text(a.source), a.tunables) for a in (challenger, incumbent))
    made = context.sandbox.compare(new, old, context.assignment.task)
    if made.key != key:
        raise DeviceError(f"the sandbox compared {made.key[:12]} when asked for {key[:12]}; please report this")
    return context.ledger.add_comparison(context.run.id, made)


def twin(context: Context, generation: int, source: str, evaluation: Evaluation, by_code: bool) -> Attempt | None:
    """The first attempt of an earlier generation that is the same kernel, or None.

    The same kernel is the same normalised source or, if asked, the same device code started by the same launches with
    the same tunables. Siblings are not looked at: which of them is first would depend on the threads.
    """
    for attempt in context.ledger.attempts(context.run.id):
        if attempt.generation >= generation or attempt.status == "duplicate":
            continue
        if attempt.candidate_id == evaluation.candidate_id:
            return attempt
        known = context.ledger.evaluation(attempt.evaluation_key) if by_code and evaluation.code_object else None
        if (
            known is not None
            and known.code_object == evaluation.code_object
            and dict(known.tunables) == dict(evaluation.tunables)
            and launches(context.artefacts.text(attempt.source)) == launches(source)
        ):
            return attempt
    return None


def launches(source: str) -> str:
    """The launches and workspaces of a launch plan in canonical form; the header's own text where it is no TOML."""
    header = _HEADER.search(source)
    if header is None:
        return ""
    try:
        plan: dict[str, Any] = tomllib.loads(header[1])
    except tomllib.TOMLDecodeError:
        return header[1]
    return dumps({name: plan.get(name) for name in ("launch", "workspace")})
