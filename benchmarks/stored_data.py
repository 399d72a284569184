"""The folder of what was measured on other machines."""

from __future__ import annotations

from pathlib import Path

DATA = Path(__file__).parent / "data"
