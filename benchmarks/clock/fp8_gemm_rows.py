"""Draw the rows of rows/fp8_gemm.tsv from the published results: `python -m benchmarks.clock.fp8_gemm_rows --help`.

Nobody picks: configurations and shapes come from a fixed seed over the sorted lists. The lab judges each configuration
before it is entered; those that are wrong on its small cases are named in the table's remarks instead.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.clock.devices import target_of
from benchmarks.clock.families.fp8_gemm import (
    NAME,
    REPOSITORIES,
    TABLE,
    GemmConfiguration,
    candidate,
    configuration,
    write_task,
)
from benchmarks.clock.fetch import fetch, repository
from benchmarks.clock.judged import PointLab
from benchmarks.clock.rows import MeasuredRow, read_dims, write_dims, write_rows
from records.errors import ScientistError

SEED = 20261128
DRAWN = 18  # configurations that are entered with every shape
WHOLE = 2  # shapes that are entered with every configuration that reads columns
LARGEST = 128  # of a tile's m and n: larger ones take their scales from where nothing was loaded, by the source
Times = Mapping[tuple[str, str], float]  # by configuration and dims
_LINE = re.compile(
    r"mma: \((\d+) (\d+) (\d+)\) \((\d+) (\d+) (\d+)\) \((\d+) \d+ \d+\) (\d) (\d) (\d+): [\d.]+ ms ([\d.]+) us "
)
_REMARKS = (
    "fp8 GEMM with block scales, MI300X: Snektron/gpumode-amd-fp8-mm, results.txt. Drawn by fp8_gemm_rows.py.",
    "Timed: HIP events around one launch of the GEMM kernel, in the second of two calls of all configurations one",
    "after another. 'columns': the kernel reads column-major operands and transposes them itself; its events also hold",
    "the gap until the host has enqueued the launch. 'rows': two transposes ran just before and are not in the time.",
    "Warm as far as the caches reach: the kernels before read, or wrote, the same operands. Where the file repeats a",
    "measurement, the two differ by 0.6 % in the median and by at most 16 %, but for one of 288 that is 3.1 times.",
    "The results are older than the commit's source, which has stream-k besides; their lines do not name it.",
)


def published(results: str) -> dict[tuple[str, str], float]:
    """Give the first measured time of each configuration and shape in microseconds, by the names of both."""
    times_us: dict[tuple[str, str], float] = {}
    for match in _LINE.finditer(results):
        m, n, k, *tile = map(int, match.groups()[:6])
        mfma, pipeline, is_fused, block = map(int, match.groups()[6:10])
        config = GemmConfiguration((tile[0], tile[1], tile[2]), mfma, pipeline, block, is_fused == 1)
        times_us.setdefault((config.text, write_dims({"m": m, "n": n, "k": k})), float(match[11]))
    return times_us


def traits(config: GemmConfiguration) -> tuple[tuple[str, object], ...]:
    """Name the traits that the draw spreads over."""
    return (
        ("tile", config.tile),
        ("mfma", config.mfma),
        ("pipeline", config.pipeline),
        ("block", config.block),
        ("reads_columns", config.reads_columns),
    )


def spread(names: Iterable[str], count: int, is_right: Callable[[str], bool], seed: int = SEED) -> list[str]:
    """Draw right configurations, each time one whose traits were drawn least; chance decides among equals."""
    left = sorted(names)
    random.Random(seed).shuffle(left)
    counts: Counter[tuple[str, object]] = Counter()
    drawn: list[str] = []
    while left and len(drawn) < count:
        name = min(left, key=lambda n: sum(counts[t] for t in traits(configuration(n))))
        left.remove(name)
        if is_right(name):
            drawn.append(name)
            counts.update(traits(configuration(name)))
    return sorted(drawn)


@dataclass(frozen=True)
class Proof:
    """The lab's judgement of a configuration: its fault, and whether it is right with the waits written out."""

    fault: str
    needs_waits: bool = False


def prove(lab: PointLab, folder: Path, source: str, name: str) -> Proof:
    """Judge a configuration on the small cases; once more with waits before barriers if one lacks its wait."""
    config = configuration(name)
    task = write_task(folder, NAME, {"m": 1024, "n": 1536, "k": 7168}, reads_columns=config.reads_columns)
    fault = lab.fault(candidate(source, config), task)
    if "raw s_barrier" not in fault:
        return Proof(fault)
    return Proof(lab.fault(candidate(source, config, writes_waits=True), task), needs_waits=True)


def rows(times: Times, names: Iterable[str], dims: Iterable[str]) -> list[MeasuredRow]:
    """List the measured rows of these configurations at these shapes."""
    chosen = repository(REPOSITORIES[0])
    how = "events around one launch, kernel alone, "
    inside = {True: how + "it transposes inside", False: how + "transposed before"}
    return [
        MeasuredRow(
            TABLE.stem,
            "MI300X",
            name,
            read_dims(shape),
            "fp8",
            times[name, shape],
            "warm",
            f"{chosen.name} results.txt",
            chosen.commit[:7],
            inside[configuration(name).reads_columns],
        )
        for name in names
        for shape in dims
    ]


def main(words: list[str]) -> int:
    """Draw, judge and write the table."""
    options = argparse.ArgumentParser(prog="python -m benchmarks.clock.fp8_gemm_rows", description=__doc__)
    options.add_argument("--folder", type=Path, required=True, help="where fetched files, tasks and kernels go")
    options.add_argument("--mirror", type=Path, help="a folder of bare git directories OWNER+NAME/repo")
    chosen = options.parse_args(words)
    fetched = fetch(repository(REPOSITORIES[0]), chosen.folder, chosen.mirror)
    source = (fetched / "solution.hip").read_text(encoding="utf-8")
    times = published((fetched / "results.txt").read_text(encoding="utf-8"))
    lab, proofs = PointLab(target_of("MI300X")), dict[str, Proof]()

    def is_right(name: str) -> bool:
        if name not in proofs:
            proofs[name] = prove(lab, chosen.folder, source, name)
            print(f"{name}: {proofs[name].fault or 'right'}", flush=True)
        return not proofs[name].fault

    shapes = sorted({shape for _, shape in times}, key=lambda s: tuple(read_dims(s).values()))
    names = sorted({name for name, _ in times if max(configuration(name).tile[:2]) <= LARGEST})
    drawn = spread(names, DRAWN, is_right)
    full_shapes = sorted(random.Random(SEED).sample(shapes, WHOLE))
    extra = [n for n in names if configuration(n).reads_columns and n not in drawn and is_right(n)]
    table = [*rows(times, drawn, shapes), *rows(times, extra, full_shapes)]
    write_rows(TABLE, table, (*_REMARKS, *_proof_lines(proofs)))
    print(f"{len(table)} rows: {len(drawn)} configurations at {len(shapes)} shapes, {len(extra)} more at {full_shapes}")
    return 0


def _proof_lines(proofs: Mapping[str, Proof]) -> list[str]:
    """Write the remarks on what the lab said."""
    waits = [name for name, proof in sorted(proofs.items()) if proof.needs_waits and not proof.fault]
    return [
        f"Tiles of more than {LARGEST} rows or columns are left out: their scales are of other rows, or of none.",
        *(f"left out: {name}: {p.fault}" for name, p in sorted(proofs.items()) if p.fault),
        "Right with s_waitcnt lgkmcnt(0) before each barrier, which clang 22 leaves out at the head of a loop:",
        *(f"waits: {name}" for name in waits),
    ]


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except ScientistError as error:
        print(error, file=sys.stderr)
        sys.exit(error.exit_code)
