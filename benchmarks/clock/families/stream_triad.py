"""RRZE's gpu-stream: the triad of doubles on an MI210, by the size of a workgroup."""

from __future__ import annotations

from benchmarks.clock.gpu_benches import REPOSITORY, stream

REPOSITORIES = (REPOSITORY,)
points = stream("triad").points
