"""Names of a stranger's file that generated files have for something else."""

from __future__ import annotations

import pytest

from imports.names import free_name, is_plain, is_reserved


@pytest.mark.parametrize("name", ["template", "kind", "np", "i0", "at_", "windows", "threadIdx"])
def test_a_name_of_a_generated_file_is_not_given_again(name: str) -> None:
    assert is_reserved(name) and free_name(name, ()) == f"{name}_1"


def test_other_names_stay_and_no_two_values_share_one() -> None:
    assert free_name("x", ()) == "x"
    assert free_name("mean", ("mean", "mean_1")) == "mean_2"


def test_letters_of_other_alphabets_are_no_part_of_a_generated_file() -> None:
    assert [is_plain(name) for name in ("rows_2", "größe", "ab\u00b2", "2d")] == [True, False, False, False]
