"""Families are found by their modules, and an unknown one is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.fetch import repository
from benchmarks.clock.points import family, family_names, points
from records.errors import UsageError


def test_every_family_names_repositories_that_can_be_fetched() -> None:
    assert "fp8_gemm" in family_names()
    for name in family_names():
        assert all(repository(needed).files for needed in family(name).REPOSITORIES)


def test_an_unknown_family_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=r"no family nothing: choose among .*fp8_gemm"):
        points(tmp_path, ["nothing"])
