"""The words of `--beat`: each names one implementation of the task that the best kernel is compared with."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from records.errors import UsageError
from sandbox.candidate.kernel_file import read_source

if TYPE_CHECKING:
    from records.artefacts import ArtefactStore

Kind = Literal["torch-eager", "torch.compile", "library", "kernel", "shared object"]
KEY = "beat"  # in a run's configuration
KERNELS = (".hip", ".cu", ".py", ".s")
FORMS = "torch.compile, torch-eager, library:EXPRESSION, a kernel FILE.hip or a FILE.so"


@dataclass(frozen=True)
class Incumbent:
    """One of them. `text`: an expression over the task's inputs, a kernel's digest, or the path of a shared object."""

    name: str
    kind: Kind
    text: str = ""

    @property
    def is_kernel(self) -> bool:
        """True for a kernel file, which is judged and timed as any candidate is."""
        return self.kind == "kernel"


def incumbent_of(word: str, artefacts: ArtefactStore) -> Incumbent:
    """Read one word; UsageError for what is none, or a file that is not there."""
    kind, _, expression = word.partition(":")
    if kind in ("torch-eager", "torch.compile", "library"):
        if expression:
            _parsed(expression)
        elif kind == "library":
            raise UsageError("--beat library: needs a call over the task's inputs, as in library:torch.softmax(x, 1)")
        return Incumbent(expression if kind == "library" else kind, kind, expression)  # type: ignore[arg-type]
    path = Path(word).expanduser()
    if path.suffix == ".so":
        if not path.is_file():
            raise UsageError(f"there is no shared object {word[:200]!r}")
        return Incumbent(path.name, "shared object", str(path.absolute()))
    if path.suffix not in KERNELS:
        raise UsageError(f"--beat is {FORMS}, not {word[:200]!r}")
    return Incumbent(path.name, "kernel", artefacts.put(read_source(path)))


def keep_incumbents(words: Sequence[str], artefacts: ArtefactStore) -> Mapping[str, str]:
    """Return what a run's configuration keeps of the words; a kernel's text is kept with the run."""
    rows = [incumbent_of(word, artefacts) for word in words]
    return {KEY: json.dumps([(row.name, row.kind, row.text) for row in rows])} if rows else {}


def incumbents_of(config: Mapping[str, Any]) -> tuple[Incumbent, ...]:
    """Read them from the configuration of a run."""
    return tuple(Incumbent(*row) for row in json.loads(str(config.get(KEY) or "[]")))


def _parsed(expression: str) -> None:
    try:
        compile(expression, "--beat", "eval")
    except (SyntaxError, ValueError) as error:
        raise UsageError(f"the expression {expression[:200]!r} of --beat is no Python: {error}") from None
