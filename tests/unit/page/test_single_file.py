"""The exported page: its data are only data, secrets are blotted out, and it loads nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from pathlib import Path
from typing import Any

import pytest

from page import Extras, RunReader, write_report
from page.sheets import Machine, MachineRow
from page.single_file import FOLDER, PIECE, SCRIPTS, render
from records.errors import LedgerError
from records.outside_text import visible
from tests.support.exported import PageReader
from tests.support.payloads import PAYLOADS

TAGS = {"html", "head", "meta", "title", "style", "body", "noscript", "p", "script"}
ATTRIBUTES = {"lang", "charset", "http-equiv", "content", "name", "type", "id"}


def reader_of(notebook: Any, **extras: Any) -> RunReader:
    return RunReader(notebook.ledger, notebook.artefacts, notebook.run.id, Extras(**extras))


def test_hostile_text_in_any_field_is_only_data(notebook: Any) -> None:
    payload = " | ".join(PAYLOADS)
    notebook.texts = lambda name: f"{name}:{payload}"
    notebook.start()
    seed = notebook.attempt(0, 0, 20.0, source=f"// seed:{payload}\nint x;\n")
    notebook.attempt(1, 0, 10.0, seed.id, source=f"// best:{payload}\nint x;\n")
    notebook.attempt(1, 1, None, seed.id, source=f"// bad:{payload}\n")
    notebook.ledger.event(notebook.run.id, "literature", {"title": payload, "section": payload, "source": payload})
    notebook.call("c1", 0.25)
    notebook.ledger.finish(notebook.run.id, "done", payload)
    words = {"task_title": payload, "task_description": payload, "target_title": payload}
    page = PageReader(render(reader_of(notebook, **words, environment={payload: payload})))
    assert set(page.tags) <= TAGS
    assert page.tags.count("script") == len(page.blocks) + 1
    assert page.attributes <= ATTRIBUTES
    assert page.book["task_title"] == page.book["literature"][0]["source"] == visible(payload)
    assert page.unpacked("sheets")[0]["source"] == visible(f"// seed:{payload}\nint x;\n")
    texts = page.everything
    for name in ("title", "rubric", "finding", "kernel", "counter", "critique", "lesson", "reason", "role", "model"):
        assert json.dumps(visible(f"{name}:{payload}"), ensure_ascii=False)[1:-1] in texts, name


def test_the_policy_allows_this_style_sheet_and_this_program_and_nothing_else(notebook: Any) -> None:
    notebook.start().attempt(0, 0, 20.0)
    text = render(reader_of(notebook))
    page = PageReader(text)
    css = text.split("<style>", 1)[1].split("</style>", 1)[0]
    (js,) = page.scripts
    css_hash, js_hash = (base64.b64encode(hashlib.sha256(part.encode()).digest()).decode() for part in (css, js))
    assert page.policy == (
        f"default-src 'none'; style-src 'sha256-{css_hash}'; script-src 'sha256-{js_hash}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
    assert not re.search(r"\s(src|href|action|style|on\w+)\s*=", text.replace(css, "").replace(js, ""))
    assert "url(" not in css and "@import" not in css


def test_the_program_holds_every_script_and_nothing_that_makes_code_of_text() -> None:
    files = sorted(path.name for path in FOLDER.glob("*.js"))
    assert sorted(SCRIPTS) == files
    for name in files:
        text = (FOLDER / name).read_text(encoding="utf-8")
        assert "</script" not in text.lower() and "<!--" not in text, name
        assert not re.search(r"\binnerHTML|outerHTML|insertAdjacent|document\.write|\beval\(|new Function|srcdoc", text)
        assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text), name


def test_no_name_stands_twice_in_the_program() -> None:
    """All scripts share one scope, where a later function would silently replace an earlier one."""
    declared = re.compile(r"^(?:async )?(?:function|const|let|class) (\w+)", re.M)
    names = [name for path in FOLDER.glob("*.js") for name in declared.findall(path.read_text(encoding="utf-8"))]
    assert sorted(names) == sorted(set(names))


def test_secrets_and_home_are_blotted_out_wherever_they_stand(notebook: Any) -> None:
    canary = "sk-canary-0123456789abcdef"
    notebook.texts = lambda name: f"{name} {canary} /houses/ada/work/x.hip"
    notebook.start().attempt(0, 0, 20.0, source=f"// {canary}\n// /houses/ada/y\n")
    notebook.attempt(1, 0, None, "g000-e0-a0", source=f"// {canary}\nx\n")
    text = render(reader_of(notebook, secrets=(canary,), home="/houses/ada", environment={"a": canary}))
    texts = text + PageReader(text).everything
    assert canary not in texts
    assert "/houses/ada" not in texts
    assert "~/work/x.hip" in texts


def test_every_candidate_and_every_call_is_in_the_file_in_its_order(notebook: Any) -> None:
    notebook.start()
    for slot in range(PIECE + 3):
        notebook.attempt(1, slot, 20.0 + slot, source=f"int n = {slot};\n")
    notebook.call("a", 0.25)
    page = PageReader(render(reader_of(notebook)))
    assert [sheet["id"] for sheet in page.unpacked("sheets")] == [line["id"] for line in page.book["lines"]]
    assert [call["call"]["number"] for call in page.unpacked("calls")] == [0]
    assert f"PIECE = {PIECE};" in (FOLDER / "data.js").read_text(encoding="utf-8")


def test_machine_code_is_in_it_for_those_that_led(notebook: Any) -> None:
    notebook.start()
    notebook.attempt(0, 0, 20.0, source="a")
    notebook.attempt(1, 0, 30.0, "g000-e0-a0", source="b")
    notebook.attempt(1, 1, 10.0, "g000-e0-a0", source="c")
    page = PageReader(
        render(reader_of(notebook), lambda source, tunables: Machine({source: (MachineRow(1, "s_endpgm", "branch"),)}))
    )
    (machines,) = page.unpacked("machines")
    assert {name: list(machine["kernels"]) for name, machine in machines.items()} == {
        "g000-e0-a0": ["a"],
        "g001-e1-a0": ["c"],
    }


def test_the_page_is_written_whole_and_is_the_same_each_time(notebook: Any, tmp_path: Path) -> None:
    notebook.start().attempt(0, 0, 20.0)
    path = write_report(reader_of(notebook), tmp_path / "out" / "report.html")
    assert path.read_text(encoding="utf-8") == render(reader_of(notebook))
    assert list(path.parent.iterdir()) == [path]


def test_an_unwritable_place_is_one_sentence(notebook: Any, tmp_path: Path) -> None:
    notebook.start().attempt(0, 0, 20.0)
    (tmp_path / "file").write_text("")
    with pytest.raises(LedgerError, match="cannot be written"):
        write_report(reader_of(notebook), tmp_path / "file" / "report.html")
