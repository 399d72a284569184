from __future__ import annotations

import sys
from pathlib import Path

import pytest

from records.errors import LabError
from sandbox.amdgcn.toolchain import Toolchain
from sandbox.lab.build.executor import link_command

ZIG = """#!{python}
import sys
from pathlib import Path
words = sys.argv[1:]
if words == ["version"]:
    print("0.0.0")
elif words == ["clang", "--version"]:
    print("clang version 1.2.3 (fake)")
elif "-c" in words:
    Path(words[words.index("-o") + 1]).write_bytes(b"object")
else:
    said = Path({said!r})
    turn, *rest = said.read_text().split("|")
    said.write_text("|".join(rest) or turn)
    objects = " ".join(word for word in words if word.endswith(".o"))
    sys.stderr.write(turn.replace("OBJECTS", objects))
    Path("PROGRAM").write_bytes(b"program")
"""
OTHER = "ld.lld -shared libc.o -o libc.so\n"
OURS = "ld.lld --static -s OBJECTS -o PROGRAM\n"


def fake(folder: Path, said: str) -> Toolchain:
    """A compiler whose driver says this at its links, turn by turn."""
    (folder / "said").write_text(said, encoding="utf-8")
    zig = folder / "zig"
    zig.write_text(ZIG.format(python=sys.executable, said=str(folder / "said")), encoding="utf-8")
    zig.chmod(0o755)
    return Toolchain(zig, folder / "cache")


@pytest.mark.parametrize("said", [OURS, OTHER + OURS, f"{OTHER}|{OURS}", f"cut off|{OTHER}{OURS}"])
def test_the_links_own_command_is_found_among_those_that_build_the_c_library(tmp_path: Path, said: str) -> None:
    words = link_command(fake(tmp_path, said), tmp_path / "kernels", "candidate.o", "program")
    assert words[:2] == ["ld.lld", "--static"] and words[-3:] == ["-o", "program", "--threads=1"]
    assert words[2] == "candidate.o", "the candidate's object stands before the runtime's"
    assert all(Path(word).is_file() for word in words[3:-3]) and len(words) > 9
    assert "-s" not in words, "the judge reads the program's symbols"


def test_a_cache_of_the_compilers_that_lost_its_files_stops_nothing(tmp_path: Path) -> None:
    toolchain = fake(tmp_path, OURS)
    test = f'"-c" in words and __import__("os").environ["ZIG_LOCAL_CACHE_DIR"] == {str(tmp_path / "cache" / "zig")!r}'
    text = toolchain.zig.read_text(encoding="utf-8")
    broken = f"words = sys.argv[1:]\nif {test}:\n    sys.exit('cannot open barrier.o')"
    toolchain.zig.write_text(text.replace("words = sys.argv[1:]", broken, 1), encoding="utf-8")
    words = link_command(toolchain, tmp_path / "kernels", "candidate.o", "program")
    assert all(Path(word).is_file() for word in words[3:-3]) and len(words) > 9
    assert not [path for path in (tmp_path / "kernels").rglob("*") if path.is_dir() and path.name == "compiler"]


def test_a_driver_that_never_shows_its_command_is_at_fault(tmp_path: Path) -> None:
    with pytest.raises(LabError, match="does not print its linker's command"):
        link_command(fake(tmp_path, OTHER), tmp_path / "kernels", "candidate.o", "program")
