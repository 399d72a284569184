"""A release is tagged only where version, changelog and program agree, and this tree could be one."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES = 60  # of a release in the changelog
NEWEST = "## [1.2.3] - 2026-01-31"
CHANGELOG = f"# Changelog\n\n## [Unreleased]\n\n{NEWEST}\n\n### Search\n\n- It finds more.\n\n## [1.2.2] - 2026-01-01\n"
PYPROJECT = '[project]\nname = "gpu-kernel-scientist"\nversion = "1.2.3"  # the one place\n'
ADA = {"NAME": "Ada", "EMAIL": "ada@example.org"}
IDENTITY = {f"GIT_{role}_{field}": value for role in ("AUTHOR", "COMMITTER") for field, value in ADA.items()}


def run(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    kept = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", "HOME": str(folder)}
    return subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False, env=kept | IDENTITY)


def commit(folder: Path, changelog: str = CHANGELOG, pyproject: str = PYPROJECT) -> None:
    (folder / "CHANGELOG.md").write_text(changelog)
    (folder / "pyproject.toml").write_text(pyproject)
    for words in (["add", "--all"], ["commit", "--quiet", "--allow-empty", "--message", "State"]):
        assert run(folder, "git", *words).returncode == 0


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A small repository with what the script reads."""
    for name in ("kernel_scientist", "records"):
        shutil.copytree(ROOT / name, tmp_path / name, ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / ".ci").mkdir()
    shutil.copy(ROOT / ".ci" / "release", tmp_path / ".ci")
    (tmp_path / ".gitignore").write_text("__pycache__/\n")
    assert run(tmp_path, "git", "init", "--quiet").returncode == 0
    commit(tmp_path)
    return tmp_path


def test_this_tree_agrees_about_its_version() -> None:
    done = run(ROOT, ".ci/release", "--check")
    assert (done.returncode, done.stderr) == (0, "")


def test_the_changelog_tells_of_each_release_in_few_lines() -> None:
    sections = (ROOT / "CHANGELOG.md").read_text().split("\n## ")[1:]
    assert {s.splitlines()[0]: n for s in sections if (n := len(s.rstrip().splitlines())) > MOST_LINES + 1} == {}


def test_a_release_is_an_annotated_tag_with_the_changelogs_text(clone: Path) -> None:
    assert run(clone, ".ci/release", "--check").returncode == 0
    assert run(clone, "git", "tag").stdout == ""
    assert run(clone, ".ci/release").returncode == 0
    assert run(clone, "git", "cat-file", "-t", "v1.2.3").stdout == "tag\n"
    told = run(clone, "git", "tag", "--list", "--format=%(contents)", "v1.2.3").stdout
    assert told.strip() == "GPU Kernel Scientist 1.2.3\n\n### Search\n\n- It finds more."
    again = run(clone, ".ci/release")
    assert again.returncode == 1 and "exists" in again.stderr


@pytest.mark.parametrize(
    ("changelog", "pyproject"),
    [
        (CHANGELOG, PYPROJECT.replace("1.2.3", "1.2.4")),
        (CHANGELOG, PYPROJECT.replace("1.2.3", "1.2.2")),
        (CHANGELOG, PYPROJECT.replace("1.2.3", "1.2.3rc1")),
        (CHANGELOG, PYPROJECT.replace("gpu-", "other-")),
        (CHANGELOG.replace("2026-01-31", "2026-02-31"), PYPROJECT),
        (CHANGELOG.replace(" - 2026-01-31", ""), PYPROJECT),
        (CHANGELOG.replace("## [Unreleased]\n", ""), PYPROJECT),
        (CHANGELOG.replace("### Search\n\n- It finds more.\n", ""), PYPROJECT),
    ],
)
def test_what_does_not_agree_is_refused(clone: Path, changelog: str, pyproject: str) -> None:
    commit(clone, changelog, pyproject)
    assert run(clone, ".ci/release", "--check").returncode == 1
    assert run(clone, ".ci/release").returncode == 1
    assert run(clone, "git", "tag").stdout == ""


def test_work_that_is_not_in_the_release_is_no_fault_until_it_is_tagged(clone: Path) -> None:
    commit(clone, CHANGELOG.replace("[Unreleased]\n", "[Unreleased]\n\n- More to come.\n"))
    assert run(clone, ".ci/release", "--check").returncode == 0
    assert run(clone, ".ci/release").returncode == 1
    commit(clone)
    (clone / "CHANGELOG.md").write_text(CHANGELOG + "\n")
    assert run(clone, ".ci/release", "--check").returncode == 0
    assert run(clone, ".ci/release").returncode == 1
    assert run(clone, "git", "tag").stdout == ""


def test_other_words_are_wrong_usage(clone: Path) -> None:
    assert run(clone, ".ci/release", "--force").returncode == 2
