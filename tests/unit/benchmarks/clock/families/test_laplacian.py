"""A row's tiling factor is set in the file and in the launch, or the row is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.clock.families.laplacian import code, plan
from records.errors import UsageError


def test_the_tiling_factor_is_set_in_the_file_and_in_the_grid(tmp_path: Path) -> None:
    file = tmp_path / "finite-difference" / "examples" / "kernel3.hpp"
    file.parent.mkdir(parents=True)
    file.write_text("#define KERNEL 3\n#define m 8\n")
    assert code(tmp_path, "kernel3 m=16") == "#define KERNEL 3\n#define m 16\n"
    assert 'grid = ["ceil_div(n, 256)", "ceil_div(n, 16)", "n"]' in plan("kernel3 m=16")
    file.write_text("#define KERNEL 3\n")
    assert code(tmp_path, "kernel3 m=1") == "#define KERNEL 3\n"
    with pytest.raises(UsageError, match=r"kernel3\.hpp"):
        code(tmp_path, "kernel3 m=16")
