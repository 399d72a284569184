"""A worker on a socket: the same requests and results as through a spool folder, answered at once."""

from __future__ import annotations

import contextlib
import hashlib
import queue
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, TimeoutError
from typing import Any

from records.codec import dumps, from_plain, to_plain
from records.errors import MachineError, ScientistError, SpoolError
from sandbox.judge_digest import judge_digest
from sandbox.remote.channel import Disconnected, SignedChannel
from sandbox.remote.message import Place, Request, Result, pack, problem_of, unpack
from sandbox.remote.pending_connections import PendingConnections
from sandbox.remote.pool import WorkerPool, WorkerSlot

MOST_CONNECTIONS = 64  # of those who have proved the token
GREETINGS = 5  # tries of an asker whose connection is cut off in the greeting, as strangers may make a worker do
BEAT_S = 10.0  # between two signs of life while a request is worked on
CONNECT_S = 20.0


class Server:
    """Listens, lets in who knows the token, and answers with the bench's slots."""

    def __init__(self, address: tuple[str, int], token: str, bench: WorkerPool, note: Callable[[str], None]) -> None:
        """Bind; SpoolError when the address cannot be had."""
        self._token, self._bench, self._note = token, bench, note
        self._free: queue.Queue[WorkerSlot] = queue.Queue()
        for slot in bench.slots:
            self._free.put(slot)
        self._connection_slots = threading.BoundedSemaphore(MOST_CONNECTIONS)
        self._pending = PendingConnections(note)
        try:
            self._socket = socket.create_server(address)
        except OSError as error:
            raise SpoolError(
                f"the worker cannot listen on {address[0]}:{address[1]} ({error.strerror or error}); "
                "choose another --serve address"
            ) from None
        self.address: tuple[str, int] = self._socket.getsockname()[:2]

    def run(self, stop: threading.Event) -> None:
        """Serve until told to stop."""
        self._socket.settimeout(0.1)
        with self._socket:
            while not stop.is_set():
                try:
                    connection, peer = self._socket.accept()
                except TimeoutError:
                    continue
                except OSError as error:  # cut off before it was taken, or no descriptor is free
                    self._pending.report(f"a connection could not be taken ({error.strerror or error})")
                    stop.wait(0.05)
                    continue
                self._pending.admit(connection, peer[0])
                attending = threading.Thread(
                    target=self._attend, args=(connection, f"{peer[0]}:{peer[1]}"), daemon=True
                )
                try:
                    attending.start()
                except RuntimeError:  # no thread is free
                    self._pending.leave(connection)
                    connection.close()

    def _attend(self, connection: socket.socket, peer: str) -> None:
        channel = SignedChannel(connection, peer)
        try:
            channel.greet(self._token, is_server=True)
        except SpoolError as error:
            if not isinstance(error, Disconnected):
                self._pending.report(str(error))
            channel.close()
            return
        finally:
            self._pending.leave(connection)
        if self._connection_slots.acquire(timeout=BEAT_S):
            try:
                self._converse(channel)
            finally:
                self._connection_slots.release()
        channel.close()

    def _converse(self, channel: SignedChannel) -> None:
        """Answer one who has proved the token."""
        try:
            channel.send({"harness": judge_digest(), "place": to_plain(self._bench.place)})
            while True:
                self._answer(channel, channel.receive(timeout_s=BEAT_S))
        except Disconnected:
            pass  # the usual end of a conversation
        except SpoolError as error:
            self._note(str(error))

    def _answer(self, channel: SignedChannel, message: dict[str, Any]) -> None:
        request = unpack(Request, str(message.get("request")).encode())
        slot: WorkerSlot | None = None
        while slot is None:
            try:
                slot = self._free.get(timeout=BEAT_S)
            except queue.Empty:
                channel.send({"busy": "waiting for a free place"})
        try:
            with ThreadPoolExecutor(1) as pool:
                work = pool.submit(self._bench.answer, slot, request)
                while True:
                    try:
                        channel.send({"result": pack(work.result(timeout=BEAT_S)).decode()})
                        return
                    except TimeoutError:
                        channel.send({"busy": "working"})
        except MachineError as error:
            if isinstance(error, SpoolError):
                raise
            self._note(f"{slot.name}: {error}")
            channel.send({"fault": str(error)})
        finally:
            self._free.put(slot)


class ServedPost:
    """The asker's end: one connection a request."""

    def __init__(self, address: tuple[str, int], token: str) -> None:
        """Ask the worker what it is; SpoolError when it cannot be reached or does not know the token."""
        self._address, self._token = address, token
        self._name = f"the worker at {address[0]}:{address[1]}"
        self._place: Place | None = None
        with self._connected() as channel:
            self._place = self._introduced(channel)
        self.id = hashlib.sha256(dumps(self._place).encode()).hexdigest()[:32]

    def place(self, target: str) -> Place | None:
        """Return the worker's place, if it is for this target."""
        return self._place if self._place is not None and self._place.target == target else None

    def has_result(self, request: Request) -> bool:
        """Return False: nothing is kept there."""
        return False

    def ask(self, request: Request) -> Result:
        """Wait for the answer; SpoolError when the worker is lost, has changed or fails."""
        if self.place(request.target) is None:
            raise SpoolError(
                f"{self._name} is for {self._place and self._place.target}, not for {request.target}; "
                "start one with --target"
            )
        with self._connected() as channel:
            self._introduced(channel)
            channel.send({"request": pack(request).decode()})
            message = channel.receive()
            while "busy" in message:
                message = channel.receive()
        if "fault" in message:
            raise SpoolError(f"{self._name} failed: {message['fault']}")
        try:
            result = unpack(Result, str(message.get("result")).encode())
            why = problem_of(result, request, self._place)
        except SpoolError as error:
            result, why = None, str(error)
        if result is None or why:
            raise SpoolError(f"the answer of {self._name} {why}; start it again, then resume the run")
        if result.refusal:
            raise SpoolError(f"{self._name} refused a request: {result.refusal}; then resume the run")
        return result

    @contextlib.contextmanager
    def _connected(self) -> Iterator[SignedChannel]:
        channel = self._greeted(GREETINGS - 1)
        try:
            yield channel
        finally:
            channel.close()

    def _greeted(self, tries_left: int) -> SignedChannel:
        """Connect; both ends have then proved the token."""
        try:
            connection = socket.create_connection(self._address, timeout=CONNECT_S)
        except OSError as error:
            raise SpoolError(
                f"{self._name} cannot be reached ({error.strerror or error}); start it with: "
                "python -m sandbox.worker --serve HOST:PORT --token-file FILE"
            ) from None
        channel = SignedChannel(connection, self._name)
        try:
            channel.greet(self._token, is_server=False)
            return channel
        except Disconnected:
            channel.close()
            if not tries_left:
                raise
        except BaseException:
            channel.close()
            raise
        time.sleep(0.05 * (GREETINGS - tries_left))
        return self._greeted(tries_left - 1)

    def _introduced(self, channel: SignedChannel) -> Place:
        words = channel.receive()
        if words.get("harness") != judge_digest():
            raise SpoolError(
                f"{self._name} is of harness {words.get('harness')}, this program of {judge_digest()}; "
                "use one version on both sides"
            )
        try:
            place = from_plain(Place, words.get("place"))
        except (ScientistError, ValueError, TypeError):
            raise SpoolError(f"{self._name} does not say what it is; use one version on both sides") from None
        if self._place is not None and place != self._place:
            raise SpoolError(
                f"{self._name} has become {place.text}, it was {self._place.text}; "
                "start it as it was, then resume the run"
            )
        return place
