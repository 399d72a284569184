"""MGPUSim's kmeans: the nearest of five centres, a work-item a point."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("kmeans").points
