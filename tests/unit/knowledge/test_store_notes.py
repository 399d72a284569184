from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import ziglang

from documents.reader import DocumentReader
from knowledge.store import NOTES, KnowledgeStore
from records.errors import ToolchainError
from sandbox.gpu.compile.nvrtc import Nvcc, Nvrtc, find_compiler

FILES = sorted(NOTES.glob("*.md"))
ROOT = Path(__file__).parents[3]
BUILTIN = Path(ziglang.__file__).parent / "lib" / "include"


def snippets(language: str) -> list[tuple[str, str]]:
    """Every complete code block of the notes; those marked as fragments are not meant to stand alone."""
    found = []
    for path in FILES:
        blocks = re.findall(rf"^```{language}\n(.*?)^```", path.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)
        found += [(f"{path.stem}-{number}", block) for number, block in enumerate(blocks)]
    return found


def cuda_compiler() -> Nvrtc | Nvcc | None:
    try:
        return find_compiler()
    except ToolchainError:
        return None


def test_there_are_enough_notes_with_code() -> None:
    assert len(FILES) >= 80
    assert len(snippets("hip")) >= 25 and len(snippets("cuda")) >= 5


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_note_says_what_it_rests_on(path: Path) -> None:
    text, raw = DocumentReader().read(path), path.read_text(encoding="utf-8")
    assert re.search(r"^title: \S", raw, re.MULTILINE) and text.licence == "Apache-2.0"
    assert text.arch in ("", "gfx942", "sm_90 sm_90a") and len(text.tags) >= 4 and len(text.source) > 10
    assert 2 <= len(re.findall(r"^- ", raw.partition("\nasks:\n")[2].partition("\nlicence:")[0], re.MULTILINE)) <= 8
    assert 300 <= len(raw.split()) <= 1200
    provenance = raw.partition("## Provenance")[2]
    assert re.search(r"documented|measured|recalled|computed|compile|arithmetic|contract|design|definition", provenance)
    assert re.search(r"Confidence: (high|medium|low)", " ".join(provenance.split()))
    assert "http" not in raw.replace("https://www.amd.com", "").replace("https://rocm.docs.amd.com", "")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), snippets("hip"), ids=[name for name, _ in snippets("hip")])
def test_a_snippet_compiles_for_gfx942(name: str, code: str, tmp_path: Path) -> None:
    plan = code.partition("+++*/")[0] if code.startswith("/*+++") else ""
    macros = [f"-D{key}={value}" for key, value in re.findall(r"^(\w+) = \[(\d+)", plan, re.MULTILINE)]
    done = subprocess.run(
        [sys.executable, "-m", "ziglang", "clang", "-x", "hip", "--cuda-device-only", "--offload-arch=gfx942",
         "-std=c++20", "-nogpulib", "-nogpuinc", "-O1", "-Wall", "-Werror", "-I", str(ROOT / "sandbox" / "include"),
         "-isystem", str(BUILTIN), *macros, "-S", "-o", str(tmp_path / "out.s"), "-"],
        input=code, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{name}: {done.stderr}"
    assert ".amdhsa_kernel" in (tmp_path / "out.s").read_text(encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), snippets("cuda"), ids=[name for name, _ in snippets("cuda")])
def test_a_snippet_compiles_for_sm_90a(name: str, code: str) -> None:
    compiler = cuda_compiler()
    if compiler is None:
        pytest.skip("there is neither NVRTC nor nvcc here")
    made = compiler.compile(code, f"{name}.cu", "sm_90a")
    assert made.cubin is not None and "warning" not in made.log, made.log


def test_shipped_notes_come_in_once_and_a_removed_one_stays_out(tmp_path: Path) -> None:
    store = KnowledgeStore(tmp_path / "store", wait_s=0.0)
    assert [added.status for added in store.ensure_shipped()] == ["added"] * len(FILES)
    assert store.ensure_shipped() == []
    (gone,) = store.remove(store.documents()[0].id)
    (tmp_path / "mine.md").write_text("my own note")
    store.add([tmp_path / "mine.md"])
    again = KnowledgeStore(tmp_path / "store", wait_s=0.0)
    assert again.ensure_shipped() == []
    assert gone.title not in [d.title for d in again.documents()]
    assert len(again.documents()) == len(FILES)
    assert [d.title for d in again.remove("*")] == ["mine"] and len(again.documents()) == len(FILES) - 1
    assert {d.uri for d in again.remove("shipped:hopper-*")} == {f"shipped:{f.name}" for f in NOTES.glob("hopper-*")}
    store.close()
    again.close()
