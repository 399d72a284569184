"""A finding as later runs are told of it: facts of the records, in words of this program. No model's words are in it.

A title, a description, a report and the names in a kernel were written by whoever wrote the kernel, and an order to a
model may stand in them. What is told is the move by its handle where this program made it, the strategy codes of the
two kernels, the values of the tunables without their names, the effect, and the evaluation that shows it.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping

from graph.lesson import EXPLORED
from records.experiment import Attempt, Experiment
from records.memories import MemoryKind

_HANDLE = re.compile(r"[a-z_]{1,24}:[\w.]{1,12}")  # of a change in the book of changes
_TAG = re.compile(r"\[((?:[a-z_]{1,24}:)[\w.+]{1,60}) on [0-9a-f]{8}\]")  # with which the playbook ends a title
# A strategy code, whose letters and figures are ours but for the name of a matrix instruction (agents/strategy.py).
_MATRIX = r"M(?:0|wmma|[fi]\d\d_\d{1,3}x\d{1,3}x\d{1,3}(?:_?(?:\d{1,2}b|x?f\d\d?|bf\d\d?|fp8|[iu]8|1k))*)"
_CODE = re.compile(rf"\?|(?:(?:[A-Z](?:[a-z]{{1,3}}|\d{{1,6}}|\?)|{_MATRIX})(?:-(?!$)|$))+")
_OWN_AUTHOR = "playbook"
_DIGEST = re.compile(r"[0-9a-f]{64}")
_KINDS = ("predicted", "measured")
_EVIDENCE = 12  # signs of an evaluation's key


def facts(kind: MemoryKind, author: str, experiment: Experiment, attempt: Attempt, parent: Attempt | None) -> str:
    """Describe the finding in one line; `author` is that of its run."""
    move = ", ".join(moves_of(author, experiment, attempt)) or "a change"
    parts = [f"{move}, strategy {_strategy(parent, attempt)}", *_tunables(parent, attempt)]
    if attempt.geomean_us and kind == "winner":
        parts.append(f"{attempt.geomean_us:.4g} us {_kind(attempt)}")
    parts += _effect(kind, attempt)
    parts.append(f"evaluation {mark(attempt.evaluation_key, _EVIDENCE)}")
    return "; ".join(parts)


def mark(text: str, signs: int = 8) -> str:
    """Return the beginning of a digest as it is, and of any other text the beginning of its digest."""
    return (text if _DIGEST.fullmatch(text) else hashlib.sha256(text.encode("utf-8", "replace")).hexdigest())[:signs]


def moves_of(author: str, experiment: Experiment, attempt: Attempt) -> tuple[str, ...]:
    """List the handles of the changes where this program chose them; none for a model's idea."""
    if experiment.picked_as == EXPLORED:
        return tuple(name for name in attempt.report if _HANDLE.fullmatch(name))
    match = _TAG.search(experiment.title) if author == _OWN_AUTHOR else None
    return (match[1],) if match else ()


def _kind(attempt: Attempt) -> str:
    return attempt.time_kind if attempt.time_kind in _KINDS else "unknown"


def _strategy(parent: Attempt | None, attempt: Attempt) -> str:
    codes = [a.strategy if _CODE.fullmatch(a.strategy) else "not known" for a in (parent, attempt) if a is not None]
    return codes[-1] if len(set(codes)) == 1 else " to ".join(codes)


def _tunables(parent: Attempt | None, attempt: Attempt) -> list[str]:
    if not attempt.tunables:
        return []
    before = f", {_values(parent.tunables)} before" if parent is not None and parent.tunables else ""
    return [f"tunables {_values(attempt.tunables)}{before}"]


def _values(tunables: Mapping[str, int]) -> str:
    return " ".join(str(tunables[name]) for name in sorted(tunables))


def _effect(kind: MemoryKind, attempt: Attempt) -> list[str]:
    idea, shown_pct = attempt.credit.idea_pct, attempt.credit.shown_pct
    gain = [] if idea is None else [f"{idea:+.1f} % against its parent by {_kind(attempt)} time, both tuned"]
    if shown_pct is None or kind == "winner":
        return gain
    words = "shown: the change itself gives" if kind == "lesson" else "refuted: the change itself gives"
    return [*gain, f"{words} {shown_pct:+.1f} % at the same tunables"]
