"""Files that the executor left in its folder, taken as a stranger's word: every number in its range, or no result.

The contents of the outputs are the only thing that a verdict rests on. The masks can hide nothing: an element that no
longer holds its poison has been written, whatever they say, and where everything was executed all of it is compared.
How much was executed is what was asked for; an executor that says anything else has failed.
"""

from __future__ import annotations

import mmap
import stat
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from records.outside_text import decoded
from sandbox.cage.output import read_output
from sandbox.lab.cost.clock import STALLS, WORK
from sandbox.lab.executor_request import NONE, WRITTEN, Region
from sandbox.lab.stored_inputs import Stored
from sandbox.machine.data_comparisons import MOST as MOST_COMPARISONS

MOST_BYTES = 8 << 20  # of the result
MOST_INSTRUCTIONS = 1 << 20
MOST_PLACES, MOST_FINDINGS, MOST_SITES = 4, 32, 1 << 16
KINDS = (
    "out_of_bounds",
    "input_written",
    "divergent_barrier",
    "divergent_collective",
    "misaligned",
    "stack_overflow",
    "division_by_zero",
    "timeout",
    "trap",
    "illegal",
    "race",
    "undrained_barrier",
    "uninitialised",
    "wave_mask",
    "kept_state",
    "shift",
    "missing_wait",
    "deadlock",
    "hazard",
    "probe",
)
_ORDERED = ("race", "undrained_barrier")
_SITE_NUMBERS, _SITE_KINDS = 13, 8
_LEVELS, _ENDS, _STALLED = 3, 64, 48  # of a timeline
_WORKS = 512  # workgroups whose work is told one by one
_LAUNCH = (
    *("executed", "failed", "work", "works", "busy", "most", "atomic"),
    *("barriers", "reads_intermediate", "ns", "cpu_ns", "recorded"),
)
_MOVED = ("loaded", "stored")
_RECORD = ("blocks", "waves", "barriers", "work", "read_lines", "written_lines")

Row = Mapping[str, Any]


class NoResult(ValueError):
    """A file that says something impossible."""


SHORT = 1 / 8  # of a deadline, that a workgroup goes on for while the plan is slow and does not hang
LIKE = 2.0  # times the longest launch that ended, which one that is cut may have taken


@dataclass(frozen=True)
class AnswerBounds:
    """Bounds of the answer: workgroups of each launch, how many of them to execute, lanes, regions."""

    totals: tuple[int, ...]
    blocks: tuple[int, ...]  # as many exactly
    recorded: int
    lanes: int
    regions: int


def read_result(folder: Path, bounds: AnswerBounds) -> dict[str, Any]:
    """Read and check the result; NoResult when there is none that could be true."""
    try:
        answer = decoded(read_output(folder / "result.json", MOST_BYTES))
    except (OSError, ValueError, RecursionError) as error:
        raise NoResult(type(error).__name__) from None
    _fields(answer, ("timed_out", "findings", "outcomes", "atomics", "accesses", "launches"))
    _flag(answer["timed_out"])
    _number(answer["accesses"], 1 << 62)
    for row in _list(answer["findings"], MOST_FINDINGS):
        _finding(row, bounds)
    digits = answer["outcomes"]
    _need(isinstance(digits, str) and len(digits) <= MOST_COMPARISONS and not digits.strip("0123"), "outcomes")
    if len(_list(answer["atomics"], bounds.regions)) != bounds.regions:
        raise NoResult("atomics")
    for count in answer["atomics"]:
        _number(count, 1 << 62)
    for number, row in enumerate(_list(answer["launches"], len(bounds.totals))):
        _launch(row, number, bounds, is_whole=not answer["findings"] and not answer["timed_out"])
    if not answer["findings"] and (answer["timed_out"] or len(answer["launches"]) != len(bounds.totals)):
        raise NoResult("it ended early and does not say why")
    return dict(answer)


def _need(good: bool, complaint: str) -> None:
    if not good:
        raise NoResult(complaint)


def _fields(row: object, names: Sequence[str]) -> None:
    _need(isinstance(row, dict) and set(row) == set(names), "fields")


def _list(value: object, most: int) -> list[Any]:
    if not isinstance(value, list) or len(value) > most:
        raise NoResult("a list")
    return value


def _rows(value: object, most: int, width: int, complaint: str) -> list[list[Any]]:
    rows = _list(value, most)
    _need(all(isinstance(row, list) and len(row) == width for row in rows), complaint)
    return rows


def _number(value: object, below: int, lowest: int = 0) -> int:
    if type(value) is not int or not lowest <= value < below:
        raise NoResult("a number")
    return value


def _numbers(values: Sequence[Any], below: int) -> None:
    """As `_number` for each of them; a record has thousands, nearly all of which are in order."""
    if not all(type(value) is int for value in values) or (values and not 0 <= min(values) <= max(values) < below):
        raise NoResult("a number")


def _flag(value: object) -> None:
    _need(isinstance(value, bool), "a flag")


def _finding(row: Any, bounds: AnswerBounds) -> None:
    names = "kind launch write size region block thread address detail offset other places"
    _fields(row, names.split(" "))
    _need(row["kind"] in KINDS, "a kind")
    _number(row["launch"], len(bounds.totals))
    _number(row["write"], 2)
    _number(row["size"], 1 << 32)
    _number(row["region"], bounds.regions, -1)
    for name in ("block", "thread"):
        _need(len(_list(row[name], 3)) == 3, name)
        for value in row[name]:
            _number(value, 1 << 32)
    _number(row["address"], 1 << 64)
    detail = _number(row["detail"], 1 << 64)
    if row["kind"] in _ORDERED:
        _need(detail & 15 < 3 and detail >> 4 & 15 < 3 and detail < 1 << 12, "detail")
    if row["kind"] == "input_written":
        _number(row["region"], bounds.regions)
    _number(row["offset"], 1 << 63, -(1 << 63))
    _need(len(_list(row["other"], 2)) == 2, "other")
    for value in [*row["other"], *_list(row["places"], MOST_PLACES)]:
        _number(value, 1 << 64)


def _launch(row: Any, number: int, bounds: AnswerBounds, *, is_whole: bool) -> None:
    _fields(row, _LAUNCH)
    executed = _number(row["executed"], bounds.totals[number] + 1)
    if is_whole:
        _need(executed == bounds.blocks[number], "workgroups")
    _number(row["failed"], executed + 1)
    _number(row["barriers"], 1 << 62)
    _number(row["ns"], 1 << 62)
    _number(row["cpu_ns"], 1 << 62)
    for name in ("work", "most"):
        _number(row[name], 1 << 62)
    for value in _list(row["works"], _WORKS):
        _number(value, 1 << 62)
    _number(row["busy"], executed + 1)
    _flag(row["reads_intermediate"])
    _flag(row["atomic"])
    if row["recorded"] is not None:
        _record(row["recorded"], bounds)
    else:
        _need(not bounds.recorded or not is_whole, "no counters")


def _record(record: Any, bounds: AnswerBounds) -> None:
    _fields(record, ("sites", "executed", "timeline", *_RECORD, *_MOVED))
    if record["timeline"] is not None:
        _timelines(record["timeline"])
    rows = _rows(record["executed"], MOST_INSTRUCTIONS, 2, "an instruction")
    _numbers([pair[0] for pair in rows], MOST_INSTRUCTIONS)
    _numbers([pair[1] for pair in rows], 1 << 62)
    for name in _RECORD:
        _number(record[name], 1 << 62)
    for name in _MOVED:
        _need(len(_list(record[name], bounds.regions)) == bounds.regions, name)
        for value in record[name]:
            _number(value, 1 << 62)
    _need(record["blocks"] <= bounds.recorded + 1, "recorded")
    _need(record["waves"] <= record["blocks"] * bounds.lanes, "waves")
    for site in _rows(record["sites"], MOST_SITES, _SITE_NUMBERS, "a site"):
        _numbers(site, 1 << 62)
        _number(site[1], _SITE_KINDS)


def _timelines(row: Any) -> None:
    _fields(row, ("cold", "warm", "hottest", "exchanges"))
    for name in ("hottest", "exchanges"):
        _number(row[name], 1 << 62)
    for name in ("cold", "warm"):
        line = row[name]
        _fields(line, ("ends", "waits", "bytes", "work", "steps", "places"))
        _number(line["steps"], 1 << 62)
        _need(len(line["waits"]) == len(STALLS) and len(line["bytes"]) == _LEVELS, "a timeline")
        _need(len(line["work"]) == len(WORK), "a timeline")
        _numbers([*_list(line["ends"], _ENDS), *line["waits"], *line["bytes"], *line["work"]], 1 << 62)
        for stall in _rows(line["places"], _STALLED, 1 + len(STALLS), "a stall"):
            _numbers(stall, 1 << 62)
            _number(stall[0], MOST_INSTRUCTIONS)


def check_files(folder: Path, masks: int, memory: int) -> None:
    """NoResult where a file of contents is not the one that was made, as long as it was; OSError where it is gone."""
    for name, size in (("memory.bin", memory), ("masks.bin", masks)):
        about = (folder / name).lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_size != size or about.st_nlink != 1:
            raise NoResult(name)


def read_outputs(folder: Path, regions: Sequence[Region]) -> dict[str, tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]:
    """Contents and per-element masks of the outputs, shaped as their buffers; no mask where none was asked for."""
    outputs = dict[str, tuple[npt.NDArray[Any], npt.NDArray[np.bool_]]]()
    for region in regions:
        data = region.buffer.data
        if region.buffer.role not in WRITTEN or isinstance(data, Stored):
            continue
        if data.size == 0:
            outputs[region.buffer.name] = (data.copy(), np.zeros(data.shape, bool))
            continue
        raw = _mapped(folder / "memory.bin", region)
        if region.mask_offset == NONE:
            outputs[region.buffer.name] = (raw.view(data.dtype).reshape(data.shape), np.zeros((0,), bool))
            continue
        marks = np.fromfile(folder / "masks.bin", np.uint8, region.size, offset=region.mask_offset)
        is_written = _all_bytes(marks, data.itemsize) | _differs(raw, region, data.itemsize)
        outputs[region.buffer.name] = (raw.view(data.dtype).reshape(data.shape), is_written.reshape(data.shape))
    return outputs


def _mapped(path: Path, region: Region) -> npt.NDArray[np.uint8]:
    """Map the region's bytes of the file, for as long as the array lives; nobody is left who could change them."""
    # A copy of a large output takes longer than its comparison.
    with path.open("rb") as file:
        pages = mmap.mmap(file.fileno(), region.size, access=mmap.ACCESS_COPY, offset=region.file_offset)
    return np.frombuffer(pages, np.uint8)


def _differs(raw: npt.NDArray[np.uint8], region: Region, itemsize: int) -> npt.NDArray[np.bool_]:
    """Per element, whether any of its bytes is another than the poison's."""
    poison = region.poisoned(itemsize)
    if itemsize in (1, 2, 4, 8):  # one row of poison for all: whole words are compared
        return np.asarray(raw.view(f"u{itemsize}") != poison.view(f"u{itemsize}")[0])
    return np.asarray((raw.reshape(-1, itemsize) != poison).any(axis=1))


def _all_bytes(mask: npt.NDArray[np.uint8], itemsize: int) -> npt.NDArray[np.bool_]:
    """Per element, whether all its bytes are marked; a mask's byte is 0 or 1."""
    if itemsize in (1, 2, 4, 8):
        return np.asarray(mask.view(f"u{itemsize}") == int.from_bytes(b"\x01" * itemsize, "little"))
    return np.asarray(mask.reshape(-1, itemsize).all(axis=1))


def has_owners(answer: Mapping[str, Any], regions: Sequence[Region]) -> bool:
    """Tell whether no output was changed atomically and no launch read what an earlier one wrote in part."""
    updated = (count and r.buffer.role != "input" for count, r in zip(answer["atomics"], regions, strict=True))
    return not any(updated) and not any(row["reads_intermediate"] for row in answer["launches"])


def is_slow(answer: Mapping[str, Any]) -> bool:
    """Tell whether the deadline came in a launch that is a small part of all: one that hangs takes the rest."""
    if not any(row["kind"] == "timeout" and not row["write"] for row in answer["findings"]):
        return False
    *ended, cut = [float(row["cpu_ns"]) for row in answer["launches"]] or [0.0]
    return bool(ended) and cut <= LIKE * max(ended) and cut <= sum(ended)


def is_moving(answer: Mapping[str, Any], deadline_s: float) -> bool:
    """Tell whether the deadline came while one workgroup ended after the other: there are many, and none hangs."""
    late = [row for row in answer["findings"] if row["kind"] == "timeout"]
    return bool(late) and all(not row["write"] and row["size"] / 1e3 <= SHORT * deadline_s for row in late)
