from __future__ import annotations

import subprocess
from pathlib import Path

from benchmarks.retrieval_pages import LEAST_BYTES, export, place_of


def test_pages_of_a_commit_are_written_and_nothing_else(tmp_path: Path) -> None:
    clone, text = tmp_path / "clones" / "O+N", "word " * LEAST_BYTES
    for name in ("docs/a.md", "docs/b.rst", ".github/c.md", "code.cpp", "LICENSE.txt"):
        (clone / name).parent.mkdir(parents=True, exist_ok=True)
        (clone / name).write_text(text)
    (clone / "stub.md").write_text("short")
    git = ["git", "-C", str(clone), "-c", "user.name=n", "-c", "user.email=e"]
    for words in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "m"]):
        subprocess.run([*git, *words], check=True, stdout=subprocess.DEVNULL)
    located = place_of(tmp_path / "clones", "O/N")
    assert located == clone
    assert export(clone, "HEAD", tmp_path / "pages") == 2
    assert (tmp_path / "pages/docs/a.md").read_text() == text
    assert place_of(tmp_path / "clones", "O/M") is None
