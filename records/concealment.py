"""Held-out cases as authors read of them: of such a case neither its name, its shape nor any number is told.

Who knows them could write for them. The rule rests on fields: a finding's or a row's case is open where the evaluation
has a row of it with another role than held-out, or where the task lists it; any other is held out.
"""

from __future__ import annotations

import re
from collections.abc import Collection

from records.evaluation import Evaluation

HELD_OUT = "a held-out one, beside the listed shapes or with other inputs"
_NUMBER = re.compile(r"-?\d+(?:[.,]\d+)*(?:e[+-]?\d+)?")


def is_open(evaluation: Evaluation, case: str | None, listed: Collection[str] = ()) -> bool:
    """Tell whether a case, or what belongs to none, may be told of as it is."""
    roles = {row.role for row in evaluation.cases if row.name == case}
    return case is None or case in listed or (bool(roles) and "held_out" not in roles)


def told(evaluation: Evaluation, case: str | None, text: str, listed: Collection[str] = ()) -> str:
    """Return a text about a case, without its numbers where the case is held out."""
    return text if is_open(evaluation, case, listed) else _NUMBER.sub("#", text)


def name_told(evaluation: Evaluation, case: str | None, listed: Collection[str] = ()) -> str | None:
    """Name a case, or say that it is held out."""
    return case if is_open(evaluation, case, listed) else HELD_OUT
