"""A task's functions in a process of their own: `main` runs in a cage, reads questions line by line and answers them.

A question is one line of JSON and a file of arrays in the working folder, and so is an answer. Whatever the task's code
does ends here: an exception becomes a sentence, or this process ends. What it prints goes nowhere.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from records.errors import TaskError
from tasks import recorded
from tasks.array_file import read_arrays, write_arrays
from tasks.dtypes import Array
from tasks.loader import TASK_FAULTS, functions_of
from tasks.task import Case

JOIN = "\x1f"  # between the name of a family and the name of a tensor
MOST_ANSWER_BYTES = 1 << 16
MOST_MESSAGE = 400  # letters
FAMILIES = ("variants", "shortcuts", "admit")  # functions that return tensors by family


def split(prefix: str, arrays: Mapping[str, Array]) -> dict[str, Array]:
    """Return the arrays of one family."""
    start = prefix + JOIN
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def joined(families: Mapping[str, Mapping[str, Array]]) -> dict[str, Array]:
    """Join all families in one."""
    return {f"{family}{JOIN}{name}": array for family, tensors in families.items() for name, array in tensors.items()}


def main(ask: int, tell: int) -> None:
    """Answer until the other end closes the connection."""
    with os.fdopen(ask, "r", encoding="utf-8") as questions, os.fdopen(tell, "w", encoding="utf-8") as answers:
        functions: dict[str, Any] = {}
        path = ""
        for line in questions:
            question = json.loads(line)
            try:
                if question["do"] == "load":
                    path = question["path"]
                    recorded.handed = Path(question["answers"]) if question["answers"] else None
                    functions = functions_of(Path(path), Path(question["code"]).read_text(encoding="utf-8"), "served")
                    answer: dict[str, Any] = {"functions": list(functions)}
                else:
                    answer = _answered(functions[question["do"]], question)
            except TaskError as error:
                answer = {"error": str(error)[:MOST_MESSAGE]}
            except (*TASK_FAULTS, MemoryError, SystemExit, KeyboardInterrupt, StopIteration) as error:
                answer = {"error": _sentence(error, path), "is_memory": isinstance(error, MemoryError)}
            answers.write(json.dumps(answer) + "\n")
            answers.flush()


def _answered(function: Callable[..., Any], question: Mapping[str, Any]) -> dict[str, Any]:
    case = Case(**{**question["case"], "absent": tuple(question["case"]["absent"])})
    arrays = read_arrays(Path(question["arrays"]), question["rows"])
    inputs, name = split("inputs", arrays), question["do"]
    if name in ("make_inputs", "variants"):
        rng = np.random.default_rng()
        rng.bit_generator.state = question["rng"]
        returned = function(case, rng) if name == "make_inputs" else function(inputs, case, rng)
    elif name == "check":
        right, message = function(inputs, split("outputs", arrays), case)
        return {"right": bool(right), "message": str(message)[:MOST_MESSAGE]}
    elif name == "within":
        returned = function(inputs, split("drawn", arrays), case)
    else:
        returned = function(inputs, case, question["ratio"]) if name == "admit" else function(inputs, case)
    families = returned if name in FAMILIES else {"": returned}
    if not isinstance(families, Mapping) or not all(isinstance(tensors, Mapping) for tensors in families.values()):
        raise TypeError(f"{name} must return a dictionary")
    return {"rows": write_arrays(Path(question["into"]), joined(families)), "families": list(families)}


def _sentence(error: BaseException, path: str) -> str:
    lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == path]
    text = f"{path}{f':{lines[-1]}' if lines else ''}: {type(error).__name__}: {error}"
    return " ".join(text.split())[:MOST_MESSAGE]


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
