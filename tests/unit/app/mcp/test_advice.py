"""Advice: every code, every kind of finding and every resource that binds and every cause of stalls has some."""

from __future__ import annotations

import pytest

from app.mcp.advice import RESOURCES, STALLS, advice_of, explained
from records.code_meanings import CODES
from records.errors import UsageError
from records.evaluation import FINDING_KINDS


@pytest.mark.parametrize("about", [*CODES, *FINDING_KINDS, *RESOURCES, *STALLS])
def test_each_is_explained(about: str) -> None:
    text = explained(about)
    assert len(text) > 5 and "](" not in text and "|" not in text


def test_an_unknown_one_is_refused_with_what_there_is() -> None:
    with pytest.raises(UsageError, match=r"race.*hbm.*vmcnt"):
        explained("magic")
    assert advice_of("magic") == ""
