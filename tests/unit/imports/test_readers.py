"""What is said of a file before any of it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from imports.readers import ImportPlace, form_of

PROBLEM = "class Model(): pass\ndef get_inputs(): pass\ndef get_init_inputs(): pass\n"


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [("main.py", "import torch\n", "my task"), ("23_Softmax.py", PROBLEM, "23 Softmax"), ("rope.json", "{}", "rope")],
)
def test_a_title_is_the_files_name_where_that_says_something(name: str, text: str, title: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    location = ImportPlace(path)
    assert form_of(location).gather(location).request("my_task", "", {}, {})["title"] == title
