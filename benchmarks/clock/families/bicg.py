"""MGPUSim's bicg: two products of a matrix with a vector, a work-item a row and a column."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("bicg").points
