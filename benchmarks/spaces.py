"""Search spaces of which every point was evaluated, as `sample_efficiency` reads them from data/spaces."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

from benchmarks.folders import DATA

FOLDER = DATA / "spaces"
CLOSE = 1.05  # a point this close to the best one has 95 % of its speed


@dataclass(frozen=True)
class Space:
    """One space; `None` is the time of a point that was refused. The first point is the default."""

    name: str
    source: str  # where the times are from
    names: tuple[str, ...]  # of the tunables
    points: tuple[tuple[int, ...], ...]
    times_us: tuple[float | None, ...]
    expressions: tuple[str, ...] = ()  # that the launch and the constraints compute from the tunables
    dims: Mapping[str, int] = field(default_factory=dict)

    @cached_property
    def choices(self) -> tuple[Mapping[str, int], ...]:
        """The points as the tuner takes them."""
        return tuple(dict(zip(self.names, point, strict=True)) for point in self.points)

    @cached_property
    def best_us(self) -> float:
        """The shortest time."""
        return min(time for time in self.times_us if time is not None)

    @cached_property
    def good(self) -> frozenset[int]:
        """The points within 5 % of the best."""
        return frozenset(i for i, t in enumerate(self.times_us) if t is not None and t <= CLOSE * self.best_us)


def save(space: Space) -> None:
    """Store a space, the same bytes for the same times."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    values = {
        "source": space.source,
        "names": space.names,
        "points": space.points,
        "expressions": space.expressions,
        "dims": space.dims,
        "times_us": [None if t is None else float(f"{t:.6g}") for t in space.times_us],
    }
    text = json.dumps(values, separators=(",", ":"))
    (FOLDER / f"{space.name}.json.gz").write_bytes(gzip.compress(text.encode(), 9, mtime=0))


def load(name: str) -> Space:
    """Read a stored space."""
    values = json.loads(gzip.decompress((FOLDER / f"{name}.json.gz").read_bytes()))
    points = tuple(tuple(point) for point in values["points"])
    return Space(
        name,
        values["source"],
        tuple(values["names"]),
        points,
        tuple(values["times_us"]),
        tuple(values["expressions"]),
        values["dims"],
    )


def stored_spaces() -> list[Space]:
    """Read all of them, by name."""
    return [load(path.name.removesuffix(".json.gz")) for path in sorted(FOLDER.glob("*.json.gz"))]
