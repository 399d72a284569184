"""A request in words: code in a block or behind a colon, files, tasks, and what stands beside them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from langchain_core.messages import AIMessage, HumanMessage

from app.asked_in_words import ANSWERED, request_in_words
from app.settings import Settings
from records.errors import UsageError

KERNEL = "__global__ void scale(const float* x, float* y, int n) {\n    y[0] = x[0];\n}\n"
FUNCTION = "import numpy as np\n\n\ndef gelu(x, eps=1e-5):\n    return x + eps\n"


def read(folder: Path, *texts: str) -> dict[str, Any]:
    return request_in_words(Settings(runs_folder=folder), [HumanMessage(text) for text in texts])


def test_code_is_read_from_blocks_from_behind_a_colon_and_with_its_reference(tmp_path: Path) -> None:
    for text in (
        f"make this faster: {FUNCTION}",
        f"Faster, please:\n\n{FUNCTION}",
        f"This:\n```python\n{FUNCTION}```\n",
    ):
        assert read(tmp_path, text) == {"source": FUNCTION, "language": "python"}
    for label, language in (("hip", "hip"), ("cuda", "cuda"), ("", "hip")):
        both = read(tmp_path, f"Mine:\n```{label}\n{KERNEL}```\nIt computes\n```py\n{FUNCTION}```\n")
        assert both == {"source": KERNEL, "language": language, "reference": FUNCTION}


def test_what_stands_beside_the_code_is_told_apart_by_its_name_and_form(tmp_path: Path) -> None:
    beside = "x=f32[rows, cols], eps = 1e-5; rows=4096 cols=1024 generations=2 max_calls=7 block=256"
    request = read(
        tmp_path, f"make this faster with {beside} grid=ceil_div(n, 256) author=playbook:\n```\n{FUNCTION}```"
    )
    assert request["inputs"] == ["x=f32[rows, cols]", "eps=1e-5"] and request["sizes"] == {"rows": 4096, "cols": 1024}
    assert (request["limits"], request["max_calls"]) == ({"generations": 2}, 7)
    assert (request["grid"], request["block"], request["author"]) == (["ceil_div(n, 256)"], ["256"], "playbook")
    # As a refusal writes what is missing.
    assert read(tmp_path, 'inputs ["x=f32[rows,cols]"]; sizes {"rows": "4096", "cols": "8"}') == {
        "inputs": ["x=f32[rows,cols]"],
        "sizes": {"rows": 4096, "cols": 8},
    }


def test_files_and_tasks_are_named_and_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine.hip").write_text('#include "part.h"\n' + KERNEL)
    (tmp_path / "part.h").write_text("#define TWICE 2\n")
    (tmp_path / "ops.py").write_text(FUNCTION)
    one = read(tmp_path, f"Please make {tmp_path}/ops.py:gelu faster.")
    assert one == {"source": FUNCTION, "language": "python", "function": "gelu"}
    two = read(tmp_path, f"{tmp_path}/mine.hip, which computes {tmp_path}/ops.py")
    assert "#define TWICE 2" in two["source"] and (two["language"], two["reference"]) == ("hip", FUNCTION)
    assert read(tmp_path, "make this faster: row_softmax.") == {"task": "row_softmax"}
    assert read(tmp_path, "What can you do?") == {}
    with pytest.raises(UsageError, match=r"there is no file nowhere\.cu"):
        read(tmp_path, "make nowhere.cu faster")


def test_later_words_complete_earlier_ones_until_a_result_answers_them(tmp_path: Path) -> None:
    first = f"make this faster: {FUNCTION}"
    request = read(tmp_path, first, "x=f32[rows] rows=4", "rows=8")
    assert request["source"] == FUNCTION and request["sizes"] == {"rows": 8}
    talk = [HumanMessage(first), AIMessage("what is x?"), HumanMessage("x=f32[n] n=4")]
    assert request_in_words(Settings(), talk)["source"] == FUNCTION
    completed = read(
        tmp_path, f"make this faster: {KERNEL}", f"It computes {FUNCTION}".replace("import", ":\nimport", 1)
    )
    assert (completed["source"], completed["language"], completed["reference"]) == (KERNEL, "hip", FUNCTION)
    told = [*talk, AIMessage("2x", additional_kwargs={ANSWERED: "a-run"}), HumanMessage("transpose")]
    assert request_in_words(Settings(), told) == {"task": "transpose"}
