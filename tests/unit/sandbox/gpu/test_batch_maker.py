"""A process makes the same batches as the judge would, and none of a task or candidate that it knows as another."""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import replace

import numpy as np
import pytest

from sandbox.candidate.prepare import prepare
from sandbox.cases.derived import candidate_secret
from sandbox.cases.inputs.families import InputFamilies
from sandbox.cases.sweep import SweptCase
from sandbox.gpu.batch import BatchCandidate
from sandbox.gpu.batch_maker import BatchMaker, SweepBatches, main
from sandbox.gpu.batch_messages import MAKER_REQUESTS, MadeReply, MakeRequest, SweepReply, SweepRequest
from sandbox.gpu.child_channel import ChildChannel, Malformed, decode, encode
from sandbox.gpu.memory_file import view
from sandbox.target import load_target
from tasks.loader import load_task

TASK = load_task("transpose", "mi300x")
TARGET = load_target("mi300x")
SOURCE = TASK.seeds[0].read_text(encoding="utf-8")
PREPARED = prepare(SOURCE, TASK)
FIRST = replace(TASK.tests[0], role="held_out", seed=5)
REQUEST = SweepRequest(
    str(TASK.folder), TASK.digest, "", SOURCE, {}, (), TARGET, f"{candidate_secret(PREPARED, 3):x}", FIRST
)


def local_batches() -> SweepBatches:
    families = InputFamilies(TASK)
    return SweepBatches(BatchCandidate(PREPARED, (), TARGET), families, candidate_secret(PREPARED, 3), FIRST)


def test_another_process_makes_the_same_batches() -> None:
    ours, theirs = socket.socketpair()
    thread = threading.Thread(target=main, args=(os.dup(theirs.fileno()),))
    thread.start()
    theirs.close()
    channel, local = ChildChannel(ours, takes_files=True), local_batches()
    channel.send(REQUEST)
    assert channel.receive((SweepReply,), 60)[0].is_known
    for number in (0, 2):
        channel.send(MakeRequest(number, 16))
        reply, files = channel.receive((MadeReply,), 60)
        batch = local.make(number, 16)
        assert batch is not None
        assert (reply.rows, reply.call, reply.elements, reply.refused) == (batch.rows, batch.call, batch.elements, None)
        assert np.array_equal(view(files[0]), view(batch.inputs))
        assert np.array_equal(view(files[1]).view(np.float64), batch.answers, equal_nan=True)
        for handle in (*files, batch.inputs):
            os.close(handle)
    channel.close()
    thread.join(10)
    assert not thread.is_alive()


def test_the_first_batch_has_every_family_and_the_others_the_sweep() -> None:
    local = local_batches()
    first, later = local.make(0, 8), local.make(1, 8)
    assert first is not None and later is not None
    assert [row.family for row in first.rows] == list(InputFamilies(TASK).names)
    assert {row.case.name for row in first.rows} == {FIRST.name} and len(later.rows) > 4
    assert local.make(1 << 20, 8) is None
    first.close()
    later.close()


@pytest.mark.parametrize(
    "request_",
    [
        replace(REQUEST, digest="0" * 64),
        replace(REQUEST, source="no plan"),
        replace(REQUEST, folder="/nowhere"),
        replace(REQUEST, tunables={"NONE": 3}),
    ],
)
def test_what_it_knows_as_another_it_does_not_make(request_: SweepRequest) -> None:
    maker = BatchMaker()
    assert maker.begin(REQUEST)
    assert not maker.begin(request_)
    assert maker.make(0, 8) is None


@pytest.mark.parametrize("message", [REQUEST, MakeRequest(3, 96)])
def test_a_request_survives_the_wire(message: object) -> None:
    assert decode(encode(message), MAKER_REQUESTS) == message


def test_a_reply_is_whole_or_none() -> None:
    reply = MadeReply((SweptCase(FIRST, "as drawn"),), "{}", ((7,),))
    assert decode(encode(reply), (MadeReply,)) == reply
    with pytest.raises(Malformed):
        decode(encode(reply).replace(b'"elements":[[7]]', b'"elements":[["7"]]'), (MadeReply,))
    with pytest.raises(Malformed):
        decode(encode(reply).replace(b'"family"', b'"other"'), (MadeReply,))
