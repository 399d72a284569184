"""A candidate is one file: headers beside a file take the place of their includes, and nothing outside is read."""

from __future__ import annotations

from pathlib import Path

from imports.hosts.local_headers import with_headers


def test_headers_of_the_folder_come_in_once_and_others_are_named(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (folder / "more").mkdir(parents=True)
    (tmp_path / "secret.h").write_text("int secret;")
    (folder / "a.h").write_text('#include "more/b.h"\nint a;')
    (folder / "more/b.h").write_text('#include "../a.h"\n#include "../../secret.h"\nint b;')
    text = '#include <vector>\n#include "a.h"\n#include "a.h"\n#include "gone.h"\n#include <hip/hip_runtime.h>\nint c;'
    full_text, missing = with_headers(folder / "k.hip", text, Path.read_text)
    assert full_text == "#include <vector>\n\n\nint b;\nint a;\n\n\n#include <hip/hip_runtime.h>\nint c;"
    assert missing == ["../../secret.h", "gone.h"]
