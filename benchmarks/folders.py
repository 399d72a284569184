"""The folders of the benchmarks: their kernels, and what was measured on other machines."""

from __future__ import annotations

from pathlib import Path

KERNELS = Path(__file__).parent / "kernels"
DATA = Path(__file__).parent / "data"
