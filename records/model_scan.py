"""What a scan of a model finds: regions of its graph with their share of the time, and the pattern of each region.

A scan is a folder: `scan.json` holds a ModelScan, `regions/NAME/pattern.json` a RegionPattern and
`regions/NAME/region.py` the region as a function of PyTorch that an import takes.

The graph is that of `torch.export.export(module, arguments, strict=False).run_decompositions({})`: functional operators
of aten as eager PyTorch calls them. Where only several graphs can be had, the names of the nodes of each begin with
`gN.`, its number.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from records.codec import from_plain, to_plain
from records.errors import UsageError

VERSION = 1
SCAN, PATTERN, REGION = "scan.json", "pattern.json", "region.py"
CASES = "cases.json"  # beside region.py: sizes and share of the time of each region of that text
REGIONS = "regions"
PREDICTED, MEASURED = "predicted", "measured"
MOST_BYTES = 64 << 20  # of a file of a scan


@dataclass(frozen=True)
class ModelTensor:
    """A tensor as it occurs; the stride counts elements."""

    name: str
    dtype: str  # as in task.toml, or PyTorch's name of a type that tasks do not have
    shape: tuple[int, ...]
    stride: tuple[int, ...]
    role: str = ""  # "weight" of the model; empty: a value


@dataclass(frozen=True)
class ModelRegion:
    """Operators that can be one kernel, as often as they occur alike. Times, bytes and operations are of all calls."""

    name: str
    kind: str  # "normalisation", "activation and gate", "matrix product", ...
    nodes: tuple[str, ...]  # of the first occurrence, in the graph's order; none in a trace
    operators: tuple[str, ...]  # of aten; of a trace, the kernel
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[ModelTensor, ...]
    count: int
    time_us: float  # as the model runs now, an operator a kernel
    share: float  # of the scan's total
    bytes: float  # compulsory: inputs once, outputs once
    flops: float
    bound_by: str  # "hbm", "compute", "launch"; empty: unknown
    roofline_us: float  # as one kernel; 0: unknown
    gap: float  # time over roofline; 0: unknown
    model_gain: float  # of the model, where the region takes the roofline's time: 1.04 is 4 % faster
    is_task: bool
    reason: str  # why it is no task, or what to expect of one


@dataclass(frozen=True)
class ModelScan:
    """All regions, the one with the largest gain for the model first."""

    model: str
    source: str  # FILE:CLASS, or the file's name
    source_kind: str  # "module", "exported", "trace"
    times: str  # "predicted" or "measured"
    device: str
    total_us: float
    regions: tuple[ModelRegion, ...]
    notes: tuple[str, ...] = ()  # what could not be scanned, a sentence each
    version: int = VERSION


@dataclass(frozen=True)
class PatternNode:
    """A call of an operator: `target` is `aten.mul.Tensor`, or `getitem` for one result of several.

    An argument is a literal, a list of arguments, or a dict with one key: {"node": NAME}, {"input": NAME},
    {"dtype": "bf16"}, {"device": "cpu"}, {"float": "-inf"}, {"memory_format": NAME}, {"layout": NAME}.
    """

    name: str
    target: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class RegionPattern:
    """A region's subgraph in the graph's order, and each place where it occurs.

    Each occurrence lists graph nodes in the order of `nodes`, each of `occurrence_inputs` in that of `inputs`. What
    stands outside reads `outputs` alone, except views, which a region repeats for itself and others may read as well.
    """

    nodes: tuple[PatternNode, ...]
    inputs: tuple[ModelTensor, ...]
    outputs: tuple[str, ...]  # names of nodes
    occurrences: tuple[tuple[str, ...], ...]
    occurrence_inputs: tuple[tuple[str, ...], ...] = ()


def read_scan(folder: Path) -> ModelScan:
    """Read a scan; UsageError where the folder holds none, or one of another version."""
    values = _read(folder / SCAN, "a folder that kernel-scientist model scan has written")
    if values.get("version") != VERSION:
        raise UsageError(f"{folder / SCAN} has version {values.get('version')}, and this program reads {VERSION}")
    scan: ModelScan = _record(ModelScan, values, folder / SCAN)
    return scan


def read_pattern(folder: Path, region: str) -> RegionPattern:
    """Read a region's pattern; UsageError where the scan has none."""
    path = folder / REGIONS / region / PATTERN
    pattern: RegionPattern = _record(RegionPattern, _read(path, "a region of a scan of a module"), path)
    return pattern


def write_record(path: Path, record: ModelScan | RegionPattern) -> None:
    """Write the record as JSON, a key a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(to_plain(record), indent=1) + "\n", encoding="utf-8")


def _read(path: Path, what: str) -> dict[str, Any]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise UsageError(f"{path} is larger than a scan can be: name {what}")
        values = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        raise UsageError(f"{path} cannot be read: name {what}") from None
    if not isinstance(values, dict):
        raise UsageError(f"{path} is no record of a scan: name {what}")
    return values


def _record(kind: type[Any], values: Mapping[str, Any], path: Path) -> Any:
    try:
        return from_plain(kind, values)
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(f"{path} is damaged ({error}): scan the model again") from None
