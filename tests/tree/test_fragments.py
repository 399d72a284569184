"""Short modules with one importer: they belong into it, unless a reason stands here."""

from __future__ import annotations

from pathlib import Path

import grimp
import pytest

from kernel_scientist.own_packages import NAMES

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("kernel_scientist", *NAMES)
LINES = 50
COMMANDS = "app.commands."  # one file a command
FULL = "its importer has no room for it, and it is a noun of its own"
REWRITING = "a rewriting of a module on its own, which the other probes do not read"
APART = {
    "agents.playbook.move": "a table that grows with each change",
    "app.asking": "the terminal's part, which tests and programs do without",
    "app.mcp.note_tool": "a tool whose arguments are its text, as its siblings' are",
    "app.mcp.relay": "run as a file, by a process that has nothing of this program's",
    "sandbox.cage.fenced": "run as a file, by the process that becomes the program",
    "exports.safetensors_file": "a file format that others define",
    "exports.original_definition": FULL,
    "imports.board_folder": "a file format that others define",
    "imports.generated_seeds": "a table that grows with each form",
    "imports.exact_constants": FULL,
    "imports.handed": FULL,
    "imports.idle_weights": "a change of the graph of its own, which the loop that fits graphs tries",
    "imports.in_place": FULL,
    "imports.source_kinds": "a table that grows with each form",
    "cluster.resource_unit": FULL,
    "documents.front_matter": "file formats that others define",
    "app.model_reach": FULL,
    "app.warming": FULL,
    "graph.picking": FULL,
    "graph.planned": FULL,
    "graph.recollections": FULL,
    "graph.renewals": "a thread, where its importer is what does not change",
    "sandbox.lab.cost.bound": FULL,
    "sandbox.lab.cost.neighbours": "the order of dispatch, which another device may have otherwise",
    "sandbox.lab.cost.matrix_cores": "the reader of a data file of the same name",
    "sandbox.candidate.code_identity": FULL,
    "sandbox.candidate.source_refusals": "a rule on every source, as its siblings are",
    "sandbox.lab.outcomes": FULL,
    "sandbox.machine.instrumented.masked_lanes": REWRITING,
    "sandbox.machine.instrumented.release_fences": REWRITING,
    "sandbox.machine.instrumented.whole_copies": REWRITING,
    "sandbox.remote.folder_key": FULL,
    "records.worked": FULL,
    "sandbox.cases.shapes.paired_remainders": "a construction with a source of its own",
}


def fragments(lines: dict[str, int], importers: dict[str, set[str]]) -> list[str]:
    """The modules that are short and that one other module imports."""
    return sorted(m for m, count in lines.items() if count <= LINES and len(importers[m]) == 1)


@pytest.fixture(scope="module")
def found() -> list[str]:
    graph = grimp.build_graph(*PACKAGES, cache_dir=None)
    lines = {
        module: len(path.read_text(encoding="utf-8").splitlines())
        for module in graph.modules
        if (path := ROOT / f"{module.replace('.', '/')}.py").is_file() and not module.startswith(COMMANDS)
    }
    assert len(lines) > 300
    return fragments(lines, {module: graph.find_modules_that_directly_import(module) for module in lines})


def test_a_short_module_with_one_importer_is_part_of_it_or_has_a_reason(found: list[str]) -> None:
    assert [module for module in found if module not in APART] == []


def test_no_reason_outlives_its_module(found: list[str]) -> None:
    assert [module for module in APART if module not in found] == []


def test_a_new_fragment_is_found() -> None:
    lines = {"a": 300, "a_part": 12, "shared": 12, "long": 51}
    importers = {"a": set[str](), "a_part": {"a"}, "shared": {"a", "long"}, "long": {"a"}}
    assert fragments(lines, importers) == ["a_part"]
