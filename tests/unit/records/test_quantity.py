from __future__ import annotations

import math

import pytest

from records.quantity import counted, plain


@pytest.mark.parametrize(("many", "text"), [(0, "0 cases"), (1, "1 case"), (2, "2 cases")])
def test_a_noun_agrees_with_its_count(many: int, text: str) -> None:
    assert counted(many, "case") == text


def test_a_plural_of_its_own() -> None:
    assert (counted(1, "try", "tries"), counted(3, "try", "tries")) == ("1 try", "3 tries")


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (10744.4, "10740"),
        (9999.9, "10000"),
        (1234567.0, "1235000"),
        (41.2345, "41.23"),
        (100.0, "100"),
        (0.5, "0.5"),
        (0.0000123456, "0.00001235"),
        (0.0, "0"),
        (math.inf, "inf"),
    ],
)
def test_a_plain_number_has_no_exponent(value: float, text: str) -> None:
    assert plain(value) == text
