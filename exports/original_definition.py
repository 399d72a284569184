"""The definition of FlashInfer-Bench that a task was imported from, as its folder keeps it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

from records.errors import UsageError
from tasks.task import Task

LINES, TENSORS = "original.jsonl", "blob"  # beside an imported task


@dataclass(frozen=True)
class OriginalDefinition:
    """Its name and type, the parameters of a solution, and the files of its trace set, byte by byte."""

    name: str
    kind: str
    parameters: tuple[str, ...]
    files: Mapping[str, bytes]


def original_of(task: Task) -> OriginalDefinition | None:
    """None for a task that comes from elsewhere; UsageError where its folder lacks a tensor of the task."""
    origin = task.provenance
    if origin is None or origin.form != "flashinfer" or not (task.folder / origin.file).is_file():
        return None
    content = (task.folder / origin.file).read_bytes()
    definition = json.loads(content)
    parameters = (*definition["inputs"], *definition["outputs"])
    missing = [t.name for t in (*task.inputs, *task.outputs) if t.name not in parameters]
    if missing:
        raise UsageError(f"{missing[0]} is in no definition that the task {task.name} came from")
    name, kind = str(definition["name"]), str(definition["op_type"])
    files = {f"definitions/{kind}/{name}.json": content}
    if (task.folder / LINES).is_file():
        files[f"workloads/{kind}/{name}.jsonl"] = (task.folder / LINES).read_bytes()
    for path in sorted((task.folder / TENSORS).rglob("*.safetensors")):
        files[path.relative_to(task.folder).as_posix()] = path.read_bytes()
    return OriginalDefinition(name, kind, parameters, files)
