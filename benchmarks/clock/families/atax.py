"""MGPUSim's atax: a matrix and its transpose times a vector, where the two fills that were timed too take little."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("atax").points
