"""MGPUSim's fft: transforms of 512 complex numbers, eight a lane, through LDS."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("fft").points
