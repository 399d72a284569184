"""A candidate is one file: a file's own headers take the place of their includes, and no other file is read."""

from __future__ import annotations

from pathlib import Path

from imports.hosts.local_headers import run_arguments, with_headers


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


def test_a_makefile_names_folders_of_headers_and_the_command_line(tmp_path: Path) -> None:
    folder = tmp_path / "own"
    (tmp_path / "shared").mkdir()
    folder.mkdir()
    (tmp_path / "shared" / "a.h").write_text("int a;")
    (folder / "Makefile").write_text("CFLAGS = -I../shared\nrun: main\n\t$(LAUNCHER) ./$(program) 1024 100\n")
    assert with_headers(folder / "k.cu", '#include "a.h"', Path.read_text) == ("int a;", [])
    assert run_arguments(folder / "k.cu") == [["1024", "100"]]
