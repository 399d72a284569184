"""What the process of an import may read beside PyTorch."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports.confined import LIMITS, libraries_beside
from sandbox.cage.python_child import ENVIRONMENT, python_child
from sandbox.process import run
from tests.support.compiler_cache import toolchain


def test_cudas_libraries_beside_pytorch_are_readable_because_its_cuda_wheel_loads_them_on_a_processor(tmp_path: Path):
    (tmp_path / "torch").mkdir()
    origin = tmp_path / "torch" / "__init__.py"
    origin.touch()
    assert libraries_beside(str(origin)) == ()
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "pip").mkdir()
    assert libraries_beside(str(origin)) == (tmp_path / "nvidia",)
    assert libraries_beside(None) == ()


@pytest.mark.parametrize(("flags", "message"), [("PRIVATE", "Cannot allocate memory"), ("SHARED", "PermissionError")])
def test_an_import_may_take_less_than_two_gigabytes_and_65_seconds(flags: str, message: str, tmp_path: Path) -> None:
    """The kernel keeps the limit of what is not touched yet: between two looks all of it could be."""
    assert LIMITS.cpu_s <= 60 and LIMITS.data_bytes is not None and LIMITS.resident_bytes < LIMITS.data_bytes < 2e9
    view, argv = python_child(("records",), "records.nothing")
    text = f"from mmap import *\nkept = [mmap(-1, 1 << 26, MAP_{flags} | MAP_ANONYMOUS) for _ in range(32)]"
    argv = [*argv[: argv.index("-c") + 1], text]
    view = view.with_folder(tmp_path)
    process = run(argv, cwd=tmp_path, env=ENVIRONMENT, limits=LIMITS, cage=toolchain().cage, view=view)
    assert process.end == "ended" and process.returncode == 1 and message in process.stderr
