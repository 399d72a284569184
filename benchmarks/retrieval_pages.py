"""Real pages for the benchmarks of retrieval, out of clones that you have made.

`git clone https://github.com/OWNER/NAME FOLDER/OWNER+NAME` makes one, bare or not; it may lie in `repo` there. Each
is read at the commit named here.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from documents.document_files import NO_DOCUMENTS

SOURCES: Mapping[str, str] = {  # repository and commit
    "ROCm/HIP": "c5e11fcac8249ce4f7e70157588ff9661a870b59",
    "ROCm/ROCm": "e396b4898f459db094bfd60b876f419f77eb9f09",
    "ROCm/composable_kernel": "8e22e1ae31bbf7086f69d8724e027676791d351a",
    "ROCm/rocPRIM": "0ce43c037bd90b88b90ac15ebf697307ca5a932d",
    "ROCm/rocm-blogs": "c9a603f2d10700ba973a4a4150374c6979a8f9d2",
    "ROCm/rocm-examples": "7dfb7d402794c33031be2847eaa06ee6732f07cb",
    "ROCm/rocm-systems": "1b1610fc2b2ab32af71e6e04e4d4a6a4ae597992",
}
ENDINGS = (".md", ".rst", ".html", ".ipynb", ".pdf")
LEAST_BYTES = 400  # smaller pages are stubs
FOLDER = Path(__file__).resolve().parent.parent / ".cache" / "retrieval_pages"  # where they are looked for


def place_of(clones: Path, repository: str) -> Path | None:
    """Find the clone's git folder; None where there is none."""
    owner, _, name = repository.partition("/")
    for folder in (clones / f"{owner}+{name}" / "repo", clones / f"{owner}+{name}", clones / name):
        if (folder / "HEAD").exists() or (folder / ".git").exists():
            return folder
    return None


def export(git: Path, commit: str, to: Path) -> int:
    """Write the pages of a commit under a folder; how many. Blobs that a partial clone lacks are left out."""
    listed = subprocess.run(
        ["git", "-C", str(git), "ls-tree", "-rz", "--name-only", commit], stdout=subprocess.PIPE, check=True
    )
    names = [name for name in listed.stdout.decode().split("\0") if _is_page(Path(name))]
    objects = "".join(f"{commit}:{name}\n" for name in names)
    batch = ["git", "-C", str(git), "cat-file", "--batch"]
    answer = subprocess.run(batch, input=objects.encode(), stdout=subprocess.PIPE, check=True).stdout
    offset = count = 0
    for name in names:
        line, _, _ = answer[offset:].partition(b"\n")
        offset += len(line) + 1
        if line.endswith(b" missing"):
            continue
        size = int(line.split()[-1])
        if size >= LEAST_BYTES:
            target = to / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(answer[offset : offset + size])
            count += 1
        offset += size + 1
    return count


def _is_page(name: Path) -> bool:
    is_hidden = any(part.startswith(".") for part in name.parts)
    return name.suffix.lower() in ENDINGS and name.name.lower() not in NO_DOCUMENTS and not is_hidden


def main() -> int:
    """Write the pages and print how many there are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--clones", type=Path, required=True, help="folder of clones")
    parser.add_argument("--to", type=Path, default=FOLDER, help="folder for the pages; made where it is missing")
    arguments = parser.parse_args()
    for repository, commit in SOURCES.items():
        git = place_of(arguments.clones, repository)
        if git is None:
            parser.error(f"there is no clone of {repository} in {arguments.clones}; see --help")
        count = export(git, commit, arguments.to / repository.replace("/", "+"))
        print(f"{repository}: {count} pages of commit {commit[:12]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
