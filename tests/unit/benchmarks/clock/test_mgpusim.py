"""The simulator's published times stand beside rows of the same family and shape."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, published_predictions
from benchmarks.clock.rows import ROWS, read_rows, write_dims


def test_the_simulator_s_published_times_belong_to_rows() -> None:
    rows = [row for table in ROWS.glob("*.tsv") for row in read_rows(table) if row.source.startswith(REPOSITORY)]
    times = published_predictions()
    assert len({(row.family, write_dims(row.dims)) for row in rows} & set(times)) > 50
    assert all(time_us > 0 for time_us in times.values())
