"""The resources of a GPU that may bind a kernel, by the names that forecasts, prompts, moves and advice share."""

from __future__ import annotations

RESOURCES = ("launch", "hbm", "mall", "l2", "l1", "lds", "mfma", "valu", "atomics", "latency")
