"""The kernels that a run begins with: files of a person, kept with the run."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from records.errors import UsageError
from sandbox.candidate.kernel_file import read_source

if TYPE_CHECKING:
    from graph.context import StartingKernel
    from records.artefacts import ArtefactStore
    from tasks.task import Task


def starts_of(config: Mapping[str, Any]) -> tuple[StartingKernel, ...]:
    """List the files a run was started from; their text is kept, so that they may change or go."""
    from graph.context import StartingKernel

    return tuple(
        StartingKernel(f"file {name}", digest) for name, digest in json.loads(str(config.get("starts") or "[]"))
    )


def keep_starts(starts: Sequence[Path], artefacts: ArtefactStore) -> Mapping[str, str]:
    """Keep the files of a request as settings of its run, their text in the artefact store."""
    if not starts:
        return {}
    rows = []
    for path in starts:
        rows.append((path.name, artefacts.put(read_source(path))))
    return {"starts": json.dumps(rows)}


def refuse_no_start(has_starts: bool, has_seeds: bool, author: str, task: Task) -> None:
    """UsageError where there is no kernel to begin with and the author writes none, or where no seeds are wanted."""
    if has_starts:
        return
    if not has_seeds:
        raise UsageError("--no-seeds leaves nothing to begin with; give a kernel with --from FILE")
    if not task.seeds and author == "playbook":
        raise UsageError(
            f"the task {task.name} has no seed, and the playbook changes kernels but writes none; "
            "give one with --from FILE, or configure a model and use --author llm"
        )
