"""What is visible around hidden paths."""

from __future__ import annotations

from pathlib import Path

from app.program.program_fence import visible_around


def test_all_is_visible_but_the_hidden_and_what_leads_there(tmp_path: Path) -> None:
    for name in ("home/me/project/runs", "home/me/notes", "home/other", "usr"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "home" / "me" / "way").symlink_to(tmp_path / "home" / "me" / "project" / "runs")
    (tmp_path / "home" / "me" / "project" / ".env").touch()
    (tmp_path / "home" / "me" / "project" / "code.py").touch()
    hidden = [tmp_path / "home" / "me" / "way", tmp_path / "home" / "me" / "project" / ".env", tmp_path / "none" / "x"]
    seen = [str(path.relative_to(tmp_path)) for path in visible_around(hidden, tmp_path)]
    assert seen == ["home/me/notes", "home/me/project/code.py", "home/other", "usr"]
