"""The version is that of the tree's pyproject.toml, and the installed package's only where there is no such file."""

from __future__ import annotations

import tomllib
from importlib import metadata
from pathlib import Path

import kernel_scientist
from records.program_version import PACKAGE, ROOT, program_version


def test_the_tree_says_the_version_and_the_package_exports_it() -> None:
    told = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert program_version() == kernel_scientist.__version__ == told


def test_a_newer_tree_counts_before_an_older_installation(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(f'[project]\nname = "{PACKAGE}"\nversion = "98.7.6"\n')
    assert program_version(tmp_path) == "98.7.6"


def test_without_a_project_of_ours_the_installed_package_says_it(tmp_path: Path) -> None:
    nowhere, foreign, broken = (tmp_path / name for name in ("nowhere", "foreign", "broken"))
    for folder, text in ((foreign, '[project]\nname = "other"\nversion = "98.7.6"\n'), (broken, "[project")):
        folder.mkdir()
        (folder / "pyproject.toml").write_text(text)
    assert {program_version(folder) for folder in (nowhere, foreign, broken)} == {metadata.version(PACKAGE)}
