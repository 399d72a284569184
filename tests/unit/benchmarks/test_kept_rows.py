from __future__ import annotations

import threading
from pathlib import Path

import pytest

from benchmarks.kept_rows import PARTIAL, KeptRows, Row, Step


def _steps(numbers: list[int], count: int, ends: int | None = None) -> list[Step]:
    def make(number: int) -> Row:
        if number == ends:
            raise KeyboardInterrupt
        numbers.append(number)
        return {"number": number}

    return [(f"step {number}", lambda number=number: make(number)) for number in range(count)]


def test_an_interrupted_run_says_what_it_has_and_the_next_makes_the_rest(tmp_path: Path) -> None:
    numbers: list[int] = []
    first = KeptRows("name", [3], 0.0, tmp_path)
    assert first.collect(_steps(numbers, 3, ends=2)) == [{"number": 0}, {"number": 1}]
    assert not first.is_whole and first.code(0) == PARTIAL
    second = KeptRows("name", [3], 0.0, tmp_path)
    assert second.collect(_steps(numbers, 3)) == [{"number": 0}, {"number": 1}, {"number": 2}]
    assert numbers == [0, 1, 2] and second.is_whole and second.code(1) == 1
    assert list(tmp_path.iterdir()) == []


def test_rows_of_other_options_and_half_a_line_are_left_alone(tmp_path: Path) -> None:
    numbers: list[int] = []
    KeptRows("name", [3], 0.0, tmp_path).collect(_steps(numbers, 3, ends=2))
    (file,) = tmp_path.iterdir()
    file.write_text(file.read_text(encoding="utf-8")[:-4], encoding="utf-8")
    assert KeptRows("name", [4], 0.0, tmp_path).collect(_steps(numbers, 1)) == [{"number": 0}]
    assert len(KeptRows("name", [3], 0.0, tmp_path).collect(_steps(numbers, 3))) == 3
    assert numbers == [0, 1, 0, 1, 2]


def test_no_row_is_begun_when_the_time_is_up(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    numbers: list[int] = []
    assert KeptRows("name", [], 1e-9, tmp_path).collect(_steps(numbers, 2)) == [] and numbers == []
    assert "0 of 2 rows so far" in capsys.readouterr().err


def test_rows_made_side_by_side_come_in_the_steps_order(tmp_path: Path) -> None:
    barrier = threading.Barrier(2, timeout=30)

    def make(number: int) -> Row:
        barrier.wait()  # neither ends before the other has begun
        return {"number": number}

    steps: list[Step] = [(f"step {number}", lambda number=number: make(number)) for number in range(4)]
    assert KeptRows("name", [], 0.0, tmp_path).collect(steps, 2) == [{"number": number} for number in range(4)]
