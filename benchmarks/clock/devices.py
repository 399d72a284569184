"""The devices that points were measured on, as targets of the lab: data of `devices/` and, of the MI300X, the shipped.

Their clock is the MI300X's: the same latencies, and the same shares of their own peaks. They are apart from
`sandbox/targets`, since no kernel is made for them here: all code is compiled for gfx942.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from records.errors import UsageError
from sandbox.target import Target, load_target

FOLDER = Path(__file__).parent / "devices"


def device_names() -> list[str]:
    """List the devices that rows may name."""
    return sorted(["MI300X", *(path.stem.upper() for path in FOLDER.glob("*.toml"))])


def target_of(device: str) -> Target:
    """Return the target of a row's device, such as MI250X, of which one GCD counts; UsageError names the known ones."""
    if device == "MI300X":
        return load_target("mi300x")
    if device not in device_names():
        raise UsageError(f"there is no target for the device {device}; known are {', '.join(device_names())}")
    stated = _stated(device)
    return Target(**{**stated, "clock": {**load_target("mi300x").clock, **stated.get("clock", {})}})


def figures_of(device: str) -> Mapping[str, float]:
    """Return the figures of the clock that are a device's own."""
    return {} if device == "MI300X" else dict(_stated(device).get("clock", {}))


def _stated(device: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{device.lower()}.toml").read_text(encoding="utf-8"))
