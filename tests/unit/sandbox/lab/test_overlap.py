from __future__ import annotations

import threading
from collections.abc import Iterator

import pytest

from sandbox.lab.overlap import AT_ONCE, overlapping


def test_what_is_made_comes_in_the_order_given_and_two_are_made_at_once() -> None:
    together = threading.Barrier(AT_ONCE, timeout=30)

    def make(number: int) -> int:
        together.wait()  # breaks where one is made after the other
        return number * number

    assert list(overlapping(range(6), make)) == [0, 1, 4, 9, 16, 25]


def test_no_more_is_begun_than_one_ahead_of_the_one_asked_for() -> None:
    begun = list[int]()

    def numbers() -> Iterator[int]:
        for number in range(100):
            begun.append(number)
            yield number

    results = overlapping(numbers(), lambda number: number)
    assert next(results) == 0 and begun == [0, 1]
    results.close()
    assert begun == [0, 1]


def test_a_fault_comes_when_its_turn_does_and_not_where_nobody_asks() -> None:
    def make(number: int) -> int:
        return 1 // (number - 1)

    results = overlapping(range(3), make)
    assert next(results) == -1
    with pytest.raises(ZeroDivisionError):
        next(results)
    results = overlapping(range(3), make)
    assert next(results) == -1
    results.close()


def test_no_thread_waits_for_the_oldest_one_while_others_are_ready() -> None:
    last = threading.Event()

    def make(number: int) -> int:
        if number == 0:
            assert last.wait(30)  # the oldest ends after all that may be read ahead of it
        if number == 3:
            last.set()
        return number

    assert list(overlapping(range(9), make, at_once=2, ahead=2)) == list(range(9))
