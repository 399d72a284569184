"""Fetched files: by commit from a bare git directory, with their digests; no network."""

from __future__ import annotations

import hashlib
import subprocess
from pathlib import Path

import pytest

from benchmarks.clock.fetch import Repository, fetch, repositories, repository
from records.errors import MachineError, UsageError

TEXT = b"int main() { return 0; }\n"


def mirror_of(folder: Path, text: bytes = TEXT) -> tuple[Path, str]:
    """A mirror with somebody/kernels, whose only commit has src/k.hip; and that commit."""
    tree, bare = folder / "tree", folder / "mirror" / "somebody+kernels" / "repo"
    (tree / "src").mkdir(parents=True)
    (tree / "src" / "k.hip").write_bytes(text)
    identity = ["-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], [*identity, "commit", "-q", "-m", "one"]):
        subprocess.run(["git", *words], cwd=tree, check=True)
    subprocess.run(["git", "clone", "-q", "--bare", str(tree), str(bare)], check=True, capture_output=True)
    commit = subprocess.run(["git", "rev-parse", "HEAD"], cwd=tree, check=True, capture_output=True, text=True).stdout
    return folder / "mirror", commit.strip()


def test_a_file_comes_from_the_mirror_once_and_stays(tmp_path: Path) -> None:
    mirror, commit = mirror_of(tmp_path)
    source = Repository("somebody/kernels", commit, {"src/k.hip": hashlib.sha256(TEXT).hexdigest()})
    folder = fetch(source, tmp_path / "cache", mirror)
    assert (folder / "src" / "k.hip").read_bytes() == TEXT
    assert fetch(source, tmp_path / "cache", tmp_path / "no mirror") == folder


def test_a_file_damaged_in_the_cache_is_fetched_again(tmp_path: Path) -> None:
    mirror, commit = mirror_of(tmp_path)
    source = Repository("somebody/kernels", commit, {"src/k.hip": hashlib.sha256(TEXT).hexdigest()})
    path = fetch(source, tmp_path / "cache", mirror) / "src" / "k.hip"
    path.write_bytes(b"other")
    fetch(source, tmp_path / "cache", mirror)
    assert path.read_bytes() == TEXT


def test_another_digest_is_refused_and_nothing_is_kept(tmp_path: Path) -> None:
    mirror, commit = mirror_of(tmp_path)
    source = Repository("somebody/kernels", commit, {"src/k.hip": "0" * 64})
    with pytest.raises(MachineError, match=r"another SHA-256 .*" + hashlib.sha256(TEXT).hexdigest()):
        fetch(source, tmp_path / "cache", mirror)
    assert not (source.folder(tmp_path / "cache") / "src" / "k.hip").exists()


def test_a_commit_that_the_mirror_lacks_is_named(tmp_path: Path) -> None:
    mirror, _ = mirror_of(tmp_path)
    with pytest.raises(MachineError, match="bring commit " + "1" * 40):
        fetch(Repository("somebody/kernels", "1" * 40, {"src/k.hip": "0" * 64}), tmp_path / "cache", mirror)


def test_without_a_mirror_files_come_from_the_web_by_name_commit_and_path(tmp_path: Path) -> None:
    source = Repository("somebody/kernels", "2" * 40, {"src/k.hip": hashlib.sha256(TEXT).hexdigest()})
    served = tmp_path / "web" / source.name / source.commit / "src" / "k.hip"
    with pytest.raises(MachineError, match=r"src/k.hip cannot be fetched .*--mirror"):
        fetch(source, tmp_path / "cache", web=(tmp_path / "web").as_uri())
    served.parent.mkdir(parents=True)
    served.write_bytes(TEXT)
    folder = fetch(source, tmp_path / "cache", web=(tmp_path / "web").as_uri())
    assert (folder / "src" / "k.hip").read_bytes() == TEXT


def test_the_table_names_whole_commits_and_digests() -> None:
    for name, entry in repositories().items():
        assert name.count("/") == 1 and len(entry.commit) == 40 and entry.files
        assert all(len(digest) == 64 for digest in entry.files.values())


def test_a_repository_that_the_table_lacks_is_refused() -> None:
    with pytest.raises(UsageError, match="nobody/nothing is not in"):
        repository("nobody/nothing")
