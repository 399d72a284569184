"""Cases of other formats: those that agree in all but sizes and real numbers."""

from __future__ import annotations

import pytest

from imports.listed_cases import MOST_CASES, listed
from imports.refusal import ImportRefused


def test_the_largest_case_says_what_stays() -> None:
    cases = listed(
        [{"n": 8, "eps": 0.1, "causal": False}, {"n": 64, "eps": 0.5, "causal": True}],
        "here",
        [{"n": 4, "eps": 0.1, "causal": True}, {"n": 4, "eps": 0.1, "causal": 1}],
    )
    assert cases.sizes == {"n": 64} and cases.scalars == {"eps": 0.5} and cases.others == {"causal": True}
    assert cases.numbers == [{"n": 64, "eps": 0.5}] and cases.more == [{"n": 4, "eps": 0.1}]
    assert cases.notes == ("2 of 4 cases are left out, since a task has one value of causal = true",)


def test_of_many_cases_the_largest_the_smallest_and_some_between_are_taken() -> None:
    cases = listed([{"n": n} for n in range(1, 101)], "here")
    sizes = [case["n"] for case in cases.cases]
    assert len(sizes) == MOST_CASES and sizes[0] == 100 and sizes[-1] == 1 and sizes == sorted(sizes, reverse=True)
    assert f"{MOST_CASES} of 100 cases were taken" in cases.notes[0]


@pytest.mark.parametrize(
    ("cases", "message"), [([], "lists no case"), ([{"n": 1}, {"m": 1}], "do not have the same names")]
)
def test_lists_that_are_none_are_refused(cases: list[dict[str, int]], message: str) -> None:
    with pytest.raises(ImportRefused, match=message):
        listed(cases, "here")
