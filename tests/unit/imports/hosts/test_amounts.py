"""Numbers of host code keep their text in the plan's language, and mean the same in it."""

from __future__ import annotations

import itertools
import math

import pytest

from imports.hosts.amounts import Amount, called, divided, joined, named, number, plus, times
from tasks.expressions import evaluate

N, M = named("n", 1000), named("m", 7)
BLOCK = number(256)


@pytest.mark.parametrize(
    ("amount", "text"),
    [
        (divided(plus(plus(N, BLOCK), number(1), -1), BLOCK), "ceil_div(n, 256)"),
        (plus(divided(plus(N, number(1), -1), BLOCK), number(1)), "(n - 1) // 256 + 1"),
        (divided(times(times(M, N), number(4)), number(4)), "m * n"),
        (divided(times(times(M, N), number(4)), times(N, number(2))), "2 * m"),
        (divided(plus(plus(N, M), number(1), -1), M), "ceil_div(n, m)"),
        (plus(times(M, N), times(N, M), -1), "0"),
        (divided(N, number(16)), "n // 16"),
        (divided(number(300), BLOCK), "1"),
        (called("min", [divided(N, number(2)), number(64)], min), "min(n // 2, 64)"),
    ],
)
def test_a_number_is_said_as_the_file_means_it(amount: Amount, text: str) -> None:
    assert amount.text == text
    assert evaluate(text, {"n": 1000, "m": 7}) == amount.value


def test_every_text_has_the_value_of_c() -> None:
    for n, m in itertools.product((1, 5, 256, 257, 4096), (1, 3, 64)):
        a, b = named("n", n), named("m", m)
        up = divided(plus(plus(a, b), number(1), -1), b)
        amount = plus(times(up, number(3)), joined(a, "%", b, lambda x, y: x % y))
        assert evaluate(amount.text, {"n": n, "m": m}) == amount.value == 3 * math.ceil(n / m) + n % m


def test_a_size_without_a_value_has_a_text() -> None:
    unknown = times(named("rows", None), number(4))
    assert (unknown.text, unknown.value, unknown.constant) == ("4 * rows", None, None)
    with pytest.raises(ZeroDivisionError):
        divided(unknown, number(0))
