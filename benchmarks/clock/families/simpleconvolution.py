"""MGPUSim's simpleconvolution: a small convolution from global memory, a work-item a pixel."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("simpleconvolution").points
