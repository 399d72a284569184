from __future__ import annotations

from pathlib import Path

import pytest

from records.errors import UsageError
from sandbox.candidate.kernel_file import read_kernel
from tests.support.triton_kernels import SCALED


def test_a_name_behind_a_colon_is_a_kernel_of_the_plan(tmp_path: Path) -> None:
    path = tmp_path / "kernels.py"
    path.write_text(SCALED, encoding="utf-8")
    assert read_kernel(path) == (SCALED, path, "")
    assert read_kernel(Path(f"{path}:scaled")) == (SCALED, path, "scaled")
    with pytest.raises(UsageError, match="does not launch '_times'; it launches scaled"):
        read_kernel(Path(f"{path}:_times"))


def test_a_file_whose_name_has_a_colon_is_itself(tmp_path: Path) -> None:
    path = tmp_path / "a:b.py"
    path.write_text(SCALED, encoding="utf-8")
    assert read_kernel(path)[1:] == (path, "")


@pytest.mark.parametrize(
    ("name", "expected"), [("k.py", 'a docstring that opens with """/'), ("k.s", "then .amdgcn_target")]
)
def test_a_file_without_a_plan_is_told_how_one_begins(tmp_path: Path, name: str, expected: str) -> None:
    path = tmp_path / name
    path.write_text("import triton\n", encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        read_kernel(path)
    assert expected in str(caught.value)


def test_a_file_that_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        read_kernel(tmp_path / "nothing.py:scaled")
