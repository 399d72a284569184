"""MGPUSim's fir: a filter of 8 to 64 taps, a work-item a sample."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("fir").points
