"""The child process's loop: one request after the other from one socket, until `ChildProcess` closes it."""

from __future__ import annotations

import os
import select
import socket
import sys
import threading
import time
from collections.abc import Sequence

from records.errors import MachineError
from sandbox.gpu.child import Child
from sandbox.gpu.child_channel import ChildChannel, Closed, Malformed
from sandbox.gpu.child_messages import REQUESTS, RUNS_CANDIDATE
from sandbox.gpu.child_replies import MOST_TEXT, FailedReply
from sandbox.gpu.driver.library import CallFailed
from sandbox.gpu.fence import Fence

GRACE_S = 5.0  # for an orderly end when the judge has gone


def serve(channel: ChildChannel, vendor: str, index: int, library: str | None, fence: Fence = "open") -> None:
    """Answer until the judge has gone. A fault is reported; after one that ends the context nothing more can work.

    A fault that the driver itself cannot name ends this process without an answer while a candidate runs: the judge
    then tries again, has the GPU tested in between, and blames a candidate with which it happens every time. The driver
    is opened when the first request comes, and not before: the judge knows when that disturbs nobody.
    """
    child: Child | None = None
    while True:
        try:
            request, files = channel.receive(REQUESTS)
        except Malformed as error:
            channel.send(FailedReply(f"the judge's child cannot read a request: {error}"[:MOST_TEXT]))
            continue
        try:
            child = child or Child(vendor, index, library, fence)
            reply = child.answer(request, files)
        except CallFailed as error:
            if error.is_unclear and isinstance(request, RUNS_CANDIDATE):
                os.write(sys.stderr.fileno(), f"{error}\n".encode())
                os._exit(1)  # a broken driver may take for ever at an orderly end
            reply = FailedReply(str(error)[:MOST_TEXT], error.fault, error.lost)
        except MachineError as error:
            reply = FailedReply(str(error)[:MOST_TEXT], lost=True)
        except (LookupError, TypeError, ValueError, ArithmeticError, MemoryError, OSError) as error:
            reply = FailedReply(f"the judge's child cannot do this: {error!r}"[:MOST_TEXT])
        finally:
            for handle in files:
                os.close(handle)
        channel.send(reply)


def end_with(handle: int, grace_s: float = GRACE_S) -> None:
    """End this process when the other end of a socket is gone, even while a kernel does not come back."""

    def watch() -> None:
        poller = select.poll()
        poller.register(handle, select.POLLRDHUP)
        poller.poll()
        time.sleep(grace_s)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(words: Sequence[str], fence: Fence) -> int:
    """Serve on SOCKET VENDOR INDEX FENCE [LIBRARY], with this level of the fence in force."""
    end_with(int(words[0]))
    channel = ChildChannel(socket.socket(fileno=int(words[0])), takes_files=True)
    try:
        serve(channel, words[1], int(words[2]), words[4] if len(words) > 4 else None, fence)
    except Closed:
        return 0
    return 0
