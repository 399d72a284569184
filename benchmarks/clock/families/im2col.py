"""MGPUSim's im2col: windows of an image as columns, a work-item a window."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("im2col").points
