"""Predict the time of every measured kernel and say how far that agrees: `python -m benchmarks.clock --help`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

from benchmarks.clock.compared import compare, show
from benchmarks.clock.devices import target_of
from benchmarks.clock.fetch import fetch, repository
from benchmarks.clock.judged import PointLab
from benchmarks.clock.points import Point, family, family_names, points
from benchmarks.clock.rows import write_dims
from benchmarks.clock.sheet import sheet
from records.errors import ScientistError, UsageError
from records.evaluation import Measurement


def parser() -> argparse.ArgumentParser:
    """Build the parser of the command's options."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.clock", description=__doc__)
    options.add_argument("--folder", type=Path, required=True, help="where fetched files, tasks and kernels go")
    options.add_argument("--mirror", type=Path, help="a folder of bare git directories OWNER+NAME/repo, for no network")
    options.add_argument("--only", action="append", metavar="FAMILY", choices=family_names(), help="this family alone")
    options.add_argument("--dims", action="append", metavar="DIMS", help='this shape alone, as in "m=64,n=64"')
    options.add_argument("--every", type=int, default=1, metavar="N", help="each N-th point alone")
    return options


@cache
def lab_of(device: str) -> PointLab:
    """Give the lab for points of a device."""
    return PointLab(target_of(device))


def expected_us(point: Point, predicted: Measurement) -> float:
    """Give the expected time that is comparable with how the point was measured."""
    table = target_of(point.device).clock
    idle = predicted.warm_us - table["next_launch_us"] + table["launch_us"]
    return {"cold": predicted.time_us, "repeated": predicted.warm_us, "warm": idle}[point.caches]


def fetch_all(names: Iterable[str], folder: Path, mirror: Path | None) -> None:
    """Bring what these families need into the folder."""
    for needed in sorted({r for name in names for r in family(name).REPOSITORIES}):
        fetch(repository(needed), folder, mirror)


def main(words: Sequence[str]) -> int:
    """Fetch, predict, compare; the predicted times go to FOLDER/predicted.tsv as well."""
    options = parser().parse_args(words)
    names = options.only or family_names()
    fetch_all(names, options.folder, options.mirror)
    chosen = [p for p in points(options.folder, names) if not options.dims or write_dims(p.dims) in options.dims]
    if not (chosen := chosen[:: options.every]):
        raise UsageError("no point is of that family and shape")

    def predicted(point: Point) -> tuple[float, float] | str:
        answer = lab_of(point.device).predicted(point)
        return answer if isinstance(answer, str) else (expected_us(point, answer), answer.bound_us)

    with sheet(options.folder / "predicted.tsv") as rows:
        show(compare(chosen, predicted, rows.add))
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ScientistError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
