import hashlib
from pathlib import Path

import pytest

from records.artefacts import ArtefactStore
from records.errors import LedgerError


def test_content_is_found_by_its_sha256_in_two_levels_of_folders(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path / "a")
    digest = store.put("naïve kernel\n")
    assert digest == hashlib.sha256("naïve kernel\n".encode()).hexdigest()
    assert (tmp_path / "a" / digest[:2] / digest[2:4] / digest).is_file()
    assert store.text(digest) == "naïve kernel\n"
    assert store.get(store.put(b"\x00\xff")) == b"\x00\xff"


def test_storing_twice_leaves_one_file_and_no_remains(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    assert store.put("x") == store.put(b"x")
    assert [p.name for p in tmp_path.rglob("*") if p.is_file()] == [store.put("x")]


@pytest.mark.parametrize("damage", [b"", b"kernes", b"kernel and more"])
def test_damage_is_noticed_and_storing_again_mends_it(tmp_path: Path, damage: bytes) -> None:
    store = ArtefactStore(tmp_path)
    digest = store.put("kernel")
    (tmp_path / digest[:2] / digest[2:4] / digest).write_bytes(damage)
    with pytest.raises(LedgerError, match="is damaged; restore"):
        store.get(digest)
    store.put("kernel")
    assert store.text(digest) == "kernel"


def test_a_missing_artefact_and_a_digest_that_is_none_are_refused(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    with pytest.raises(LedgerError, match="cannot be read"):
        store.get("0" * 64)
    with pytest.raises(LedgerError, match="is not the digest"):
        store.get("../../../etc/passwd")


def test_a_folder_that_cannot_be_written_to_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LedgerError, match=r"cannot be written to .*choose another run folder"):
        ArtefactStore(tmp_path / "file" / "artefacts")
