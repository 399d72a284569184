"""A folder through which requests go to workers and results come back; it may be shared, synchronised or carried.

    spool.json              the folder's id: part of every key
    place-TARGET.json       what the results for a target come from; pinned by the first worker
    requests/HASH.json      written whole, never changed
    claims/HASH.N           the N-th worker on it; its time of change is the heartbeat
    results/HASH.json       written whole, once: the first one stays
    refused/                results that were put aside, each with the reason beside it
    workers/ID.json         who serves this folder

A claim is made by creating the file with the next number, which only one worker can do. A worker that is lost stops
touching its claim; then the next number may be taken. A result is linked into place, so of two only the first counts.

Others may write to the folder. Whatever they put there is at most a damaged file (shared_folder.py), and with a key
only a request or a result with its seal counts (folder_key.py). They can still delete files and so hold a run up.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import re
import secrets
import stat
import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from records.codec import from_plain, to_plain
from records.errors import Pending, SpoolError
from records.files import write_whole
from sandbox.remote.folder_key import FolderKey
from sandbox.remote.message import FORMAT, MOST_BYTES, Place, Request, Result, pack, problem_of, unpack
from sandbox.remote.shared_folder import is_odd, is_own_folder, names_in, read_regular, touch_own

PARTS = ("requests", "claims", "results", "refused", "workers")
LEASE_S = 120.0  # without a heartbeat, after which a worker counts as lost
MOST_TRIES = 3  # workers that may fail or be lost on one request
MOST_CLAIMS = 16  # numbers that are looked for: far beyond the tries
_HASH = re.compile(r"[0-9a-f]{64}")
_ID = re.compile(r"[0-9a-f]{32}")
_NO_LINKS = {errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK}


@dataclass(frozen=True)
class Claim:
    """One worker's hold on one request."""

    request: str
    number: int  # 1 for the first worker on it
    path: Path
    inode: int  # of the file that the worker made

    def beat(self) -> None:
        """Say that the work goes on."""
        touch_own(self.path, self.inode, None)

    def expire(self) -> None:
        """Let the next worker have it at once; this try counts."""
        with contextlib.suppress(OSError):
            touch_own(self.path, self.inode, (0, 0))

    def drop(self) -> None:
        """Give it back as if it had never been taken."""
        with contextlib.suppress(OSError):
            self.path.unlink()


class Spool:
    """The folder, for both sides. Every method raises SpoolError when the folder is at fault."""

    def __init__(self, folder: Path, lease_s: float = LEASE_S, key: str = "") -> None:
        """Open the folder, making what is missing; with a `key` what is written is sealed, and what is read must be."""
        self.folder = folder
        self.lease_s = lease_s
        with self._using("written to"):
            for part in PARTS:
                (folder / part).mkdir(parents=True, exist_ok=True)
                if not is_own_folder(folder / part):
                    raise SpoolError(f"in the spool folder {folder} {part!r} is a link; choose a new folder")
            self._write(folder / "spool.json", _json({"format": FORMAT, "id": secrets.token_hex(16)}))
        self.id = str(self._read_json("spool.json").get("id", ""))
        if not _ID.fullmatch(self.id):
            raise SpoolError(f"the spool folder {folder} has a damaged spool.json; choose a new folder")
        self._seal = FolderKey(self.id, key.encode())

    # The asker's side

    def ask(self, request: Request) -> Result:
        """Return a request's result; Pending, with the request written, where there is none or it was put aside."""
        data = self._read(self.folder / "results" / f"{request.hash}.json")
        refused: tuple[str, ...] = ()
        if data is not None:
            result, why = self._checked(data, request)
            if result is not None and not why:
                if self.place(request.target) is None:
                    self.pin(result.place)
                if not result.refusal:
                    return result
                self._put_aside(request.hash, result.refusal)
                raise SpoolError(f"the worker {result.worker} refused a request: {result.refusal}; then resume the run")
            self._put_aside(request.hash, why)
            refused = (f"the result {request.hash[:12]} was put aside because it {why}",)
        self.put(request)
        notes = "".join(f"; {why}" for why in refused)
        raise Pending(
            f"waiting for 1 result in {self.folder}{notes}: answer it with `python -m sandbox.worker --spool "
            f"{self.folder} --target {request.target}` where the GPU is, then ask again",
            (request.hash,),
            str(self.folder),
            refused,
        )

    def has_result(self, request: Request) -> bool:
        """Tell whether an answer is there already."""
        return os.path.lexists(self.folder / "results" / f"{request.hash}.json")

    def put(self, request: Request) -> None:
        """Write a request; one that is there whole stays as it is."""
        path = self.folder / "requests" / f"{request.hash}.json"
        data = self._seal.sealed("request", request.hash, pack(request))
        if self._read(path) != data:
            with self._using("written to"):
                if is_odd(path):
                    path.replace(self.folder / "refused" / f"{request.hash}-{secrets.token_hex(4)}.odd")
                write_whole(path, data, is_durable=True)

    def _checked(self, data: bytes, request: Request) -> tuple[Result | None, str]:
        try:
            result = unpack(Result, self._seal.opened("result", request.hash, data))
        except SpoolError as error:
            return None, str(error)
        return result, problem_of(result, request, self.place(request.target))

    def _put_aside(self, name: str, why: str) -> None:
        """Move a result aside, so that a worker does the request again; it is kept, so that nothing is lost."""
        aside = self.folder / "refused" / f"{name}-{secrets.token_hex(4)}"
        with self._using("written to"), contextlib.suppress(FileNotFoundError):
            (self.folder / "results" / f"{name}.json").replace(aside.with_suffix(".json"))
            write_whole(aside.with_suffix(".txt"), f"{why}\n".encode(), is_durable=True)

    # The worker's side

    def open_requests(self, passed: Collection[str] = ()) -> list[str]:
        """List requests without a result, oldest first, but for those passed over: each is looked at once."""
        with self._using("read"):
            answered = set(names_in(self.folder / "results"))
            rows = []
            for file in names_in(self.folder / "requests"):
                name, _, kind = file.partition(".")
                if kind == "json" and file not in answered and name not in passed and _HASH.fullmatch(name):
                    with contextlib.suppress(FileNotFoundError):
                        status = (self.folder / "requests" / file).lstat()
                        rows += [(status.st_mtime, name)] if stat.S_ISREG(status.st_mode) else []
        return [name for _, name in sorted(rows)]

    def request(self, name: str) -> Request:
        """Read one request; SpoolError when it is torn or is not what its name says."""
        data = self._read(self.folder / "requests" / f"{name}.json")
        if data is None:
            raise SpoolError("is gone")
        request = unpack(Request, self._seal.opened("request", name, data))
        if request.hash != name:
            raise SpoolError("is damaged")
        return request

    def claim(self, name: str) -> Claim | None:
        """Take a request; None when another worker has it or it is done."""
        with self._using("written to"):
            number = max((n for n, _ in self._claims(name)), default=0)
            if number and not self._is_lost(self._claim_path(name, number)):
                return None
            path = self._claim_path(name, min(number + 1, MOST_CLAIMS))
            try:
                descriptor = os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o644)
            except FileExistsError:
                return None
            claim = Claim(name, number + 1, path, os.fstat(descriptor).st_ino)
            os.close(descriptor)
            if os.path.lexists(self.folder / "results" / f"{name}.json"):
                claim.drop()
                return None
        return claim

    def publish(self, result: Result, claim: Claim) -> bool:
        """Put a result in its place and give the claims up; False when another worker's was there first."""
        with self._using("written to"):
            data = self._seal.sealed("result", result.request, pack(result))
            is_first = self._write(self.folder / "results" / f"{result.request}.json", data)
            for number, path in self._claims(result.request):
                if number <= claim.number:
                    with contextlib.suppress(IsADirectoryError, PermissionError):
                        path.unlink(missing_ok=True)
        return is_first

    def place(self, target: str) -> Place | None:
        """Return the place that results for a target come from, or None before the first one."""
        name = f"place-{target}.json"
        record = self._read_json(name)
        try:
            return from_plain(Place, record["place"]) if record else None
        except (ValueError, KeyError, TypeError, AttributeError):
            raise SpoolError(f"the spool folder {self.folder} has a damaged {name}; choose a new folder") from None

    def pin(self, place: Place) -> Place:
        """Say where results for this target come from; the first one to say so stays and is returned."""
        with self._using("written to"):
            self._write(self.folder / f"place-{place.target}.json", _json({"format": FORMAT, "place": to_plain(place)}))
        return self.place(place.target) or place

    def describe(self, worker: str, words: Mapping[str, Any]) -> None:
        """Leave a note on a worker for people."""
        with self._using("written to"):
            write_whole(self.folder / "workers" / f"{worker}.json", _json(words), is_durable=True)

    # The folder

    def _claims(self, name: str) -> Iterator[tuple[int, Path]]:
        for number in range(1, MOST_CLAIMS + 1):
            path = self._claim_path(name, number)
            if os.path.lexists(path):
                yield number, path

    def _claim_path(self, name: str, number: int) -> Path:
        return self.folder / "claims" / f"{name}.{number}"

    def _is_lost(self, path: Path) -> bool:
        """Tell whether a claim is lost, by the folder's own clock, which machines share and nobody beats ahead of."""
        try:
            with tempfile.NamedTemporaryFile(prefix=".clock-", dir=self.folder / "claims") as clock:
                return abs(os.fstat(clock.fileno()).st_mtime - path.lstat().st_mtime) > self.lease_s
        except FileNotFoundError:  # given up this moment: look again in the next round
            return False

    def _write(self, path: Path, data: bytes) -> bool:
        """Write whole unless the file is there; False when it is."""
        handle, name = tempfile.mkstemp(prefix=".new-", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(name, path)
            except FileExistsError:
                return False
            except OSError as error:
                if error.errno not in _NO_LINKS:
                    raise
                if os.path.lexists(path):  # a file system without links: of two at this very moment the last one stays
                    return False
                Path(name).replace(path)
            return True
        finally:
            Path(name).unlink(missing_ok=True)

    def _read(self, path: Path) -> bytes | None:
        with self._using("read"):
            return read_regular(path, MOST_BYTES)

    def _read_json(self, name: str) -> dict[str, Any]:
        data = self._read(self.folder / name)
        try:
            record = json.loads(data) if data is not None else {}
        except (ValueError, RecursionError):
            record = None
        if not isinstance(record, dict):
            raise SpoolError(f"the spool folder {self.folder} has a damaged {name}; choose a new folder")
        return record

    @contextlib.contextmanager
    def _using(self, how: str) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise SpoolError(
                f"the spool folder {self.folder} cannot be {how} ({error.strerror or error}); free some "
                "space or repair the folder, then continue"
            ) from None


def _json(value: Any) -> bytes:
    return json.dumps(value, indent=1, sort_keys=True).encode() + b"\n"


def worker_id(host: str) -> str:
    """Make a name that no other worker has."""
    return f"{re.sub(r'[^A-Za-z0-9]+', '-', host)[:32]}-{os.getpid()}-{secrets.token_hex(4)}"
