"""Every device that a row names is a target, and an unknown one is refused."""

from __future__ import annotations

import pytest

from benchmarks.clock.devices import device_names, target_of
from benchmarks.clock.rows import ROWS, read_rows
from records.errors import UsageError


def test_every_row_names_a_device_whose_data_is_here() -> None:
    devices = {row.device for table in ROWS.glob("*.tsv") for row in read_rows(table)}
    assert devices <= set(device_names())
    assert target_of("MI300A").units == 228 and target_of("MI250X").memory["l2_count"] == 1
    assert {target_of(name).arch for name in device_names()} == {"gfx942"}
    with pytest.raises(UsageError, match="known are MI210, MI250X"):
        target_of("MI999")
