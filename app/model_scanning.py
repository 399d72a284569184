"""A scan of a model: from a file to the folder with its regions."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from json import dumps
from pathlib import Path
from typing import TYPE_CHECKING, Any

from app.screen import note
from imports.declared_inputs import DeclaredInputs
from records.errors import UsageError
from records.model_scan import CASES, PATTERN, REGION, REGIONS, SCAN, ModelScan, write_record

if TYPE_CHECKING:
    from app.settings import Settings
    from imports.models.costs import ReachedRates
    from imports.models.device_times import DeviceTimes
    from imports.models.operator_graph import TracedModel
    from imports.models.region_scan import ScannedRegion

PAGE = "index.html"
GPUS = ("/dev/nvidiactl", "/dev/kfd")
TRACES = (".json", ".gz", ".csv")
EXPORTED, DEFAULT = ".pt2", "mi300x"
FILE_CLASS = re.compile(r"(.+\.py):([A-Za-z_]\w*)")


@dataclass(frozen=True)
class ScanWish:
    """All that somebody says of a model that is to be scanned."""

    source: str  # FILE.py:CLASS, FILE.pt2 or a trace
    inputs: DeclaredInputs = field(default_factory=DeclaredInputs)
    target: str = ""  # empty: an MI300X, and for a trace the GPU that it names


@dataclass(frozen=True)
class FinishedScan:
    """A scan and, of a graph, its regions with their patterns."""

    scan: ModelScan
    regions: tuple[ScannedRegion, ...] = ()


def model_place(source: str) -> tuple[Path, str]:
    """Read FILE or FILE:CLASS; UsageError where there is no such file, or one of another kind."""
    match = FILE_CLASS.fullmatch(source)
    path, name = (Path(match[1]), match[2]) if match else (Path(source), "")
    if not path.is_file():
        raise UsageError(
            f"{path} is no file: name FILE.py:CLASS, a program of torch.export.save, or a profiler's trace"
        )
    if path.suffix not in (".py", EXPORTED, *TRACES):
        raise UsageError(
            f"{path} is no model: name FILE.py:CLASS, FILE.pt2 of torch.export.save, or a trace (.json, .json.gz, .csv)"
        )
    return path, name


def scan_of(settings: Settings, wish: ScanWish) -> FinishedScan:
    """Scan a model or a trace; UsageError says why it cannot be."""
    from app.task_folders import task_cage
    from imports.models.confined_scan import module_request, read_trace, traced
    from imports.models.costs import ReachedRates
    from imports.models.region_scan import scan_model
    from imports.models.trace_scan import scan_trace
    from sandbox.target import load_target

    path, name = model_place(wish.source)
    rates, cage = ReachedRates(load_target(wish.target or DEFAULT)), task_cage(settings)
    if path.suffix in TRACES:
        trace = read_trace(path, cage)
        stated = rates if wish.target and not trace.device else None
        own_rates = _rates_of(trace.device, rates) or stated
        return FinishedScan(scan_trace(trace, path.name.split(".")[0], path.name, own_rates))
    inputs = wish.inputs.checked()
    note(f"following {path.name}, confined: without network, without your files and without memory for its weights")
    if path.suffix == EXPORTED:
        model = traced({"kind": "exported", "path": str(path.resolve())}, cage)
        source, kind = path.name, "exported"
    else:
        request = module_request(path, name, inputs.specs, inputs.sizes)
        model = traced({**request, "numbers": dict(inputs.numbers)}, cage)
        source, kind = f"{path.name}:{model.name}", "module"
    measured = _measured(model)
    if measured is None:
        return FinishedScan(*scan_model(model, rates, source, kind))
    model = replace(model, notes=(*model.notes, *measured.notes))
    own_rates = _rates_of(measured.device, rates) or rates
    return FinishedScan(*scan_model(model, own_rates, source, kind, measured.times, measured.device))


def _measured(model: TracedModel) -> DeviceTimes | None:
    """Time the operators on a GPU of this machine; None where there is none, or PyTorch has none."""
    if not any(Path(device).exists() for device in GPUS):
        return None
    from imports.models.device_times import device_times

    note("timing the operators on this machine's GPU")
    return device_times(model)


def _rates_of(device: str, rates: ReachedRates) -> ReachedRates | None:
    """Return the rates where the trace is from that GPU."""
    from imports.models.costs import ReachedRates
    from sandbox.target import load_target, target_names

    squeezed = device.lower().replace(" ", "")
    name = next((n for n in target_names() if n in squeezed), "")
    return (rates if name == rates.target.name else ReachedRates(load_target(name))) if name else None


def write_scan(finished: FinishedScan, folder: Path) -> None:
    """Write the new folder: scan.json, the page, and a folder for each region of a graph."""
    from app.new_folder import whole_or_none
    from page.model_page import model_page

    cases = _cases(finished.regions)
    with whole_or_none(folder):
        write_record(folder / SCAN, finished.scan)
        (folder / PAGE).write_text(model_page(finished.scan), encoding="utf-8")
        for region in finished.regions:
            place = folder / REGIONS / region.region.name
            write_record(place / PATTERN, region.pattern)
            if region.text is not None:
                (place / REGION).write_text(region.text.text, encoding="utf-8")
                (place / CASES).write_text(dumps(cases[region.text.family], indent=1) + "\n", encoding="utf-8")


def _cases(regions: Sequence[ScannedRegion]) -> dict[str, list[dict[str, Any]]]:
    """List the sizes of all regions of one text, with their shares of the time."""
    cases = dict[str, list[dict[str, Any]]]()
    for region in regions:
        if region.text is not None and region.text.sizes:
            row = {"sizes": dict(region.text.sizes), "weight": region.region.share}
            cases.setdefault(region.text.family, []).append(row)
    return defaultdict(list, cases)


def scan_folder(finished: FinishedScan, out: Path | None) -> Path:
    """Name the folder: the model's, where nobody names one."""
    plain = re.sub(r"[^\w-]+", "_", finished.scan.model).strip("_") or "model"
    return out or Path(f"{plain}-scan")
