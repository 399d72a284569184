"""MGPUSim's spmv: a sparse matrix times a vector, a work-item a row."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("spmv").points
