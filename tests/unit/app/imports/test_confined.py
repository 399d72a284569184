"""What the process of an import may read beside PyTorch."""

from __future__ import annotations

from pathlib import Path

from app.imports.confined import libraries_beside


def test_cudas_libraries_beside_pytorch_are_readable_because_its_cuda_wheel_loads_them_on_a_processor(tmp_path: Path):
    (tmp_path / "torch").mkdir()
    origin = tmp_path / "torch" / "__init__.py"
    origin.touch()
    assert libraries_beside(str(origin)) == ()
    (tmp_path / "nvidia").mkdir()
    (tmp_path / "pip").mkdir()
    assert libraries_beside(str(origin)) == (tmp_path / "nvidia",)
    assert libraries_beside(None) == ()
