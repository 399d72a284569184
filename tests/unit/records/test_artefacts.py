import hashlib
from pathlib import Path

import pytest

from records.artefacts import REMEMBERED, SMALL_BYTES, ArtefactStore
from records.errors import LedgerError
from records.experiment import Run
from records.ledger import Ledger
from tests.support.ledgers import Opening


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
def test_damage_is_noticed_and_storing_again_repairs_it(tmp_path: Path, damage: bytes) -> None:
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


def test_a_small_artefact_is_a_row_of_the_ledger_and_a_large_one_a_file(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger:
        store = ArtefactStore(tmp_path / "a", ledger)
        small, large = store.put("kernel"), store.put(b"x" * (SMALL_BYTES + 1))
        assert store.put("kernel") == small
        assert [p.name for p in (tmp_path / "a").rglob("*") if p.is_file()] == [large]
        assert (store.text(small), len(store.get(large))) == ("kernel", SMALL_BYTES + 1)
        with pytest.raises(LedgerError, match="cannot be read"):
            store.get("0" * 64)


def test_the_files_of_an_older_run_folder_are_found(tmp_path: Path) -> None:
    digest = ArtefactStore(tmp_path / "a").put("kernel")
    with Ledger(tmp_path / "ledger.db") as ledger:
        assert ArtefactStore(tmp_path / "a", ledger).text(digest) == "kernel"


@pytest.mark.slow
def test_damage_in_the_ledger_is_noticed_and_storing_again_repairs_it(tmp_path: Path, opening: Opening) -> None:
    with opening() as ledger:
        store = ArtefactStore(tmp_path / "a", ledger)
        digest = store.put("kernel")
        ledger.add_artefact(digest, b"kernes")
        with pytest.raises(LedgerError, match="is damaged; restore"):
            store.get(digest)
        store.put("kernel")
        assert store.text(digest) == "kernel"


def test_an_artefact_and_the_record_that_names_it_are_one_commit(tmp_path: Path, opening: Opening) -> None:
    with opening() as ledger, opening() as other:
        run = Run("r", "t", "mi300x", "lab", "playbook", 7)
        with ledger.together():
            digest = ArtefactStore(tmp_path / "a", ledger).put("kernel")
            ledger.add_run(run)
            assert other.artefact(digest) is None
        assert (other.artefact(digest), other.runs()) == (b"kernel", (run,))


def test_a_text_that_can_be_made_again_does_not_wait_for_the_disk(tmp_path: Path) -> None:
    with Ledger(tmp_path / "ledger.db") as ledger, Ledger(tmp_path / "ledger.db") as other:
        digest = ArtefactStore(tmp_path / "a", ledger).put("draft", is_synced=False)
        assert ledger.engine.connection.execute("PRAGMA synchronous").fetchone() == (1,)
        assert other.artefact(digest) == b"draft", "no kill -9 loses it"


def test_a_text_that_was_read_lately_is_not_read_again(tmp_path: Path) -> None:
    store = ArtefactStore(tmp_path)
    digests = [store.put(f"kernel {n}") for n in range(REMEMBERED + 1)]
    assert [store.text(digest) for digest in digests] == [f"kernel {n}" for n in range(REMEMBERED + 1)]
    for digest in digests:
        (tmp_path / digest[:2] / digest[2:4] / digest).unlink()
    assert store.text(digests[-1]) == f"kernel {REMEMBERED}"
    with pytest.raises(LedgerError, match="cannot be read"):
        store.text(digests[0])
