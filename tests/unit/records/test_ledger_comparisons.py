from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from records.evaluation import CaseComparison, Comparison, comparison_key
from records.experiment import Run
from records.ledger import Ledger
from tests.support.ledgers import Opening

RUN = Run("20261121-softmax-1a", "row_softmax", "mi300x", "lab", "playbook", 7, {"generations": 4})


@pytest.fixture
def ledger(opening: Opening) -> Iterator[Ledger]:
    with opening() as opened:
        opened.add_run(RUN)
        yield opened


def comparison(challenger: str, incumbent: str, ratio: float = 0.98) -> Comparison:
    cases = (
        CaseComparison("n=4", ratio, ratio - 0.002, ratio + 0.004, "faster", 20),
        CaseComparison("n=8", ratio, ratio - 0.002, ratio + 0.004, "faster", 16),
    )
    return Comparison(
        comparison_key(challenger, incumbent),
        challenger,
        incumbent,
        "faster",
        ratio,
        ratio - 0.002,
        ratio + 0.004,
        cases,
        "a GPU",
        1.5,
    )


def test_the_first_comparison_of_two_kernels_stays(ledger: Ledger, opening: Opening) -> None:
    made = comparison("new", "old")
    assert ledger.comparison(made.key) is None
    assert ledger.add_comparison(RUN.id, made) == made
    assert ledger.add_comparison(RUN.id, comparison("new", "old", 0.5)) == made
    other = ledger.add_comparison(RUN.id, comparison("new", "older"))
    ledger.add_comparison(RUN.id, comparison("old", "new"))
    ledger.close()
    with opening() as again:
        assert again.comparison(made.key) == made
        assert again.comparisons("new") == (made, other)
        assert again.comparisons("older") == ()


def test_a_comparison_in_words() -> None:
    assert comparison("a", "b").text == "faster by 2.0 % (1.6 to 2.2, 36 windows)"
    assert replace(comparison("a", "b", 1.1), verdict="slower").text == "slower by 10.0 % (9.8 to 10.4, 36 windows)"
    assert replace(comparison("a", "b", 1.0), verdict="same").text == (
        "the same speed, faster by 0.0 % (-0.4 to 0.2, 36 windows)"
    )
