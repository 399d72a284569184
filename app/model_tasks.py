"""Tasks of the regions of a scan: one for each chosen region, through the import; what cannot be one is left out."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from records.errors import MachineError, ScientistError, UsageError
from records.model_scan import REGION, REGIONS, ModelRegion, ModelScan

if TYPE_CHECKING:
    from app.settings import Settings

TASKS = "tasks"  # folder within the scan
LEAST_GAIN = 1.002  # of the model, for a region that nobody named


@dataclass(frozen=True)
class RegionTask:
    """What became of a region: the folder of its task, or the reason why there is none."""

    region: str
    folder: Path | None
    reason: str = ""
    notes: tuple[str, ...] = ()


def chosen_regions(scan: ModelScan, names: Sequence[str], top: int | None) -> list[ModelRegion]:
    """List the regions that are named, or the first that may gain something; UsageError for one that is not there."""
    if scan.source_kind == "trace":
        raise UsageError("a trace says what kernels take, not what they compute: scan the module itself for tasks")
    by_name = {region.name: region for region in scan.regions}
    if unknown := [name for name in names if name not in by_name]:
        raise UsageError(f"the scan has no region {unknown[0]!r}; it has {', '.join(by_name)}")
    if names:
        return [by_name[name] for name in dict.fromkeys(names)]
    gaining = [region for region in scan.regions if region.is_task and region.model_gain >= LEAST_GAIN]
    return gaining[:top]


def tasks_of(settings: Settings, folder: Path, regions: Sequence[ModelRegion], out: Path) -> Iterator[RegionTask]:
    """Make the tasks one after the other; a region whose text another has made a task of has that one's."""
    made_by_text = dict[str, RegionTask]()
    for region in regions:
        if not region.is_task:
            yield RegionTask(region.name, None, region.reason)
            continue
        family = _family((folder / REGIONS / region.name / REGION).read_text(encoding="utf-8"))
        if (twin := made_by_text.get(family)) is not None:
            yield RegionTask(region.name, twin.folder, twin.reason or f"the same as {twin.region} in other sizes")
            continue
        made_by_text[family] = _task_of(settings, folder, region.name, out / region.name)
        yield made_by_text[family]


def _family(text: str) -> str:
    """Take the sizes out of a region's text."""
    return text[text.index("\ndef region(") :]


def _task_of(settings: Settings, folder: Path, name: str, out: Path) -> RegionTask:
    from app.task_making import TaskWish, make_task
    from imports.readers import ImportPlace

    if (out / "task.toml").is_file():
        return RegionTask(name, out, "it is there already")
    wish = TaskWish(name, ImportPlace(folder / REGIONS / name / REGION, "region"))
    try:
        _, notes = make_task(settings, wish, out)
    except MachineError:
        raise
    except ScientistError as error:
        return RegionTask(name, None, str(error))
    return RegionTask(name, out, "", notes)


def write_tasks(path: Path, tasks: Sequence[RegionTask]) -> None:
    """Write which region has which task, and why others have none."""
    rows = [{"region": t.region, "task": str(t.folder or ""), "reason": t.reason} for t in tasks]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
