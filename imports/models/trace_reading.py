"""Profilers' traces, read piece by piece: PyTorch's Chrome JSON and rocprofv3's CSV. In the scan's own process only."""

from __future__ import annotations

import csv
import gzip
import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import isfinite
from pathlib import Path
from typing import IO, Any

from imports.models.trace_record import ProfilerTrace, TracedKernel, TracedShapes
from imports.refusal import ImportRefused

CHUNK = 1 << 20
MOST_EVENT = 32 << 20  # characters of one event
MOST_NAMES, MOST_USES = 20_000, 8
GPU = ("kernel", "gpu_memcpy", "gpu_memset", "memcpy", "memset")
EVENTS = re.compile(r'"traceEvents"\s*:\s*\[')
DEVICE = re.compile(
    r'"(?:name|DeviceName)"\s*:\s*"([^"]*(?:NVIDIA|Tesla|Quadro|AMD|Instinct|MI\d|GeForce|[AHBV]\d{2,3})[^"]*)"'
)
NO_SHAPES = "rocprofv3 records no shapes: profile with PyTorch's profiler for these"
COLUMNS = {  # of a kernel trace and of statistics, by the names that versions of rocprof give them
    "name": ("Kernel_Name", "KernelName", "Name"),
    "begin": ("Start_Timestamp", "BeginNs", "Start"),
    "end": ("End_Timestamp", "EndNs", "End"),
    "total": ("TotalDurationNs", "DurationNs", "Total_Duration_Ns"),
    "calls": ("Calls",),
}


@dataclass
class _Times:
    """Runs of a kernel by the operator behind them."""

    by_operator: dict[str, tuple[int, float]] = field(default_factory=dict)

    def add(self, operator: str, count: int, time_us: float) -> None:
        """Count runs."""
        number, total = self.by_operator.get(operator, (0, 0.0))
        self.by_operator[operator] = number + count, total + time_us


def read_trace(path: Path) -> ProfilerTrace:
    """Read a trace; ImportRefused where it is none, or holds no kernel of a GPU."""
    try:
        with path.open("rb") as file:
            is_packed = file.read(2) == b"\x1f\x8b"
        opener: Any = gzip.open if is_packed else open
        with opener(path, "rt", encoding="utf-8", errors="replace", newline="") as text:
            head = text.read(CHUNK)
            reading = _chrome if head.lstrip("\ufeff \t\r\n")[:1] in ("{", "[") else _rocprof
            return reading(head, text)
    except (EOFError, gzip.BadGzipFile) as error:
        raise ImportRefused(f"its compressed data end early or are damaged ({error})") from None


def _chrome(head: str, text: IO[str]) -> ProfilerTrace:
    kernels: dict[str, _Times] = {}
    operators: dict[Any, str] = {}  # external ids, and what their operators were called with
    runs: list[tuple[str, Any, float]] = []
    first, last, device = float("inf"), 0.0, DEVICE.search(head)
    for event in _events(head, text):
        category = str(event.get("cat", "")).lower()
        arguments = event.get("args")
        values: Mapping[str, Any] = arguments if isinstance(arguments, dict) else {}
        if category in GPU and event.get("ph", "X") == "X":
            start, time_us = _number(event.get("ts")), max(_number(event.get("dur")), 0.0)
            first, last = min(first, start), max(last, start + time_us)
            runs.append((str(event.get("name")), _external(values), time_us))
        elif category in ("cpu_op", "operator") and (identity := _external(values)) is not None:
            operators[identity] = _called(event, values)
    for name, identity, time_us in runs:
        _entry(kernels, name).add(operators.get(identity, ""), 1, time_us)
    if not kernels:
        raise ImportRefused("it has no kernels of a GPU: profile with the activity CUDA")
    return _trace("PyTorch", device[1] if device else "", kernels, last - first)


def _events(head: str, text: IO[str]) -> Iterator[Mapping[str, Any]]:
    """Yield the events one by one, and hold one piece of the file at a time."""
    decoder = json.JSONDecoder(strict=False)
    buffer = head.lstrip("\ufeff \t\r\n")
    if buffer.startswith("["):
        position = 1
    else:
        while (match := EVENTS.search(buffer)) is None:
            more = text.read(CHUNK)
            if not more:
                raise ImportRefused("it has no traceEvents, which PyTorch's profiler writes")
            buffer = (buffer if len(buffer) < MOST_EVENT else buffer[-100:]) + more
        position = match.end()
    while True:
        while position < len(buffer) and buffer[position] in " \t\r\n,":
            position += 1
        if position < len(buffer) and buffer[position] == "]":
            return
        try:
            event, position = decoder.raw_decode(buffer, position)
        except (json.JSONDecodeError, RecursionError):
            more = text.read(CHUNK)
            if not more or len(buffer) - position > MOST_EVENT:
                raise ImportRefused("it ends within its events: the profiler was cut short") from None
            buffer, position = buffer[position:] + more, 0
            continue
        if isinstance(event, dict):
            yield event
        if position > CHUNK:
            buffer, position = buffer[position:], 0


def _external(values: Mapping[str, Any]) -> Any:
    for name in ("External id", "external id", "External Id"):
        value = values.get(name)
        if isinstance(value, (int, str)):
            return value if isinstance(value, int) or not value.isdigit() else int(value)
    return None


def _called(event: Mapping[str, Any], values: Mapping[str, Any]) -> str:
    """Write an operator with shapes, types and strides as one text, so that equal ones are held once."""
    parts = [_field(values, n) for n in ("Input Dims", "Input type", "Input Strides")]
    return json.dumps([str(event.get("name")), *parts])


def _field(values: Mapping[str, Any], name: str) -> Any:
    value = values.get(name, values.get(name.capitalize(), []))
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return []
    return value if isinstance(value, list) else []


def _number(value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return 0.0
    return number if isfinite(number) else 0.0


def _rocprof(head: str, text: IO[str]) -> ProfilerTrace:
    """Read rows of single runs, or of the totals of kernels."""
    kernels: dict[str, _Times] = {}
    first, last = float("inf"), 0.0
    try:
        rows = csv.DictReader(_lines(head, text))
        names = {
            key: next((n for n in choices if n in (rows.fieldnames or ())), "") for key, choices in COLUMNS.items()
        }
        has_runs = bool(names["begin"] and names["end"])
        if not names["name"] or not (has_runs or names["total"]):
            raise ImportRefused("it is neither a trace of PyTorch's profiler nor a table of kernels of rocprofv3")
        for row in rows:
            name = row[names["name"]] or ""
            if has_runs:
                begin, end = _number(row[names["begin"]]), _number(row[names["end"]])
                first, last = min(first, begin / 1e3), max(last, end / 1e3)
                _entry(kernels, name).add("", 1, max(end - begin, 0.0) / 1e3)
            else:
                calls = int(_number(row[names["calls"]])) if names["calls"] else 1
                _entry(kernels, name).add("", calls, _number(row[names["total"]]) / 1e3)
    except csv.Error as error:
        raise ImportRefused(f"its table is damaged ({error})") from None
    if not kernels:
        raise ImportRefused("it has no kernels")
    return _trace("rocprofv3", "", kernels, last - first)


def _lines(head: str, text: IO[str]) -> Iterator[str]:
    lines = head.splitlines(keepends=True)
    yield from lines[:-1]
    last_line = lines[-1] if lines else ""
    yield last_line if last_line.endswith("\n") else last_line + text.readline()
    yield from text


def _entry(kernels: dict[str, _Times], name: str) -> _Times:
    if name not in kernels and len(kernels) >= MOST_NAMES:
        raise ImportRefused(f"it has more than {MOST_NAMES:,} different kernels")
    return kernels.setdefault(name, _Times())


def _trace(form: str, device: str, kernels: Mapping[str, _Times], span_us: float) -> ProfilerTrace:
    """Order the kernels, and say what is missing."""
    records = [_kernel(name, times) for name, times in kernels.items()]
    total_us = sum(kernel.time_us for kernel in records)
    notes = []
    if not any(use.shapes for kernel in records for use in kernel.uses):
        notes.append("the trace has no shapes: profile with record_shapes=True" if form == "PyTorch" else NO_SHAPES)
    if span_us > 0 and total_us < 0.9 * span_us:
        notes.append(
            f"kernels run for {total_us / 1e3:.1f} of the {span_us / 1e3:.1f} ms between the first and the last: "
            "shares are of the kernels' time"
        )
    return ProfilerTrace(form, device, tuple(sorted(records, key=lambda k: -k.time_us)), tuple(notes))


def _kernel(name: str, times: _Times) -> TracedKernel:
    uses = [_use(text, *numbers) for text, numbers in times.by_operator.items() if text]
    uses.sort(key=lambda use: -use.time_us)
    counts = times.by_operator.values()
    return TracedKernel(name, sum(n for n, _ in counts), sum(t for _, t in counts), tuple(uses[:MOST_USES]))


def _use(text: str, count: int, time_us: float) -> TracedShapes:
    operator, shapes, types, strides = json.loads(text)
    return TracedShapes(
        operator, tuple(map(_lengths, shapes)), tuple(map(str, types)), tuple(map(_lengths, strides)), count, time_us
    )


def _lengths(value: Any) -> tuple[int, ...]:
    return tuple(v for v in value if type(v) is int) if isinstance(value, list) else ()
