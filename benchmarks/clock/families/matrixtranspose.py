"""MGPUSim's matrixtranspose: a transpose by tiles of 64 by 64 in LDS, without padding."""

from __future__ import annotations

from benchmarks.clock.mgpusim import REPOSITORY, mgpusim

REPOSITORIES = (REPOSITORY,)
points = mgpusim("matrixtranspose").points
