"""What a framework says reaches the user without control sequences, and a line of his is listed once."""

from __future__ import annotations

import json
import socket

import pytest

from minrepro.align.calls import alike
from minrepro.align.form import Argument, Call
from minrepro.worker.client import LENGTHS, Worker
from minrepro.worker.log import Log, plain


@pytest.mark.parametrize(("said", "due"), [
    ("\x1b[1m\x1b[38;2;255;000;000mError\x1b[0m: shape", "Error: shape"),
    ("\x1b]8;;file:///a\x1b\\there\x1b]8;;\x07", "there"),
    ("a\x1b[2K\x07b\n\tc", "ab\n\tc"),
    ("形状 [1, 2] \u2019", "形状 [1, 2] \u2019"),
])
def test_control_sequences_are_taken_out(said, due):
    assert plain(said) == due
    assert plain({"failed": [said, 3, None]}) == {"failed": [due, 3, None]}


def test_a_reply_and_a_log_are_plain(tmp_path):
    worker = Worker.__new__(Worker)
    worker._socket, there = socket.socketpair()
    header = json.dumps({"outcome": "raised", "message": "\x1b[31mred\x1b[0m"}).encode()
    there.sendall(LENGTHS.pack(len(header), 0) + header)
    assert worker._receive(5.0)[0] == {"outcome": "raised", "message": "red"}
    (tmp_path / "log").write_text("one\n\x1b[31mtwo\x1b[0m\n")
    assert Log(tmp_path / "log").tail(1) == "two"


def test_a_line_with_two_calls_of_the_same_kind_is_listed_once(tmp_path):
    path = tmp_path / "port.py"
    path.write_text("y = y.reshape(2, 3)\ny = y.reshape(1, 6).permute(1, 0).reshape(2, 3)\nz = z.reshape(4, 1)\n")
    call = Call("reshape", True, (Argument((6,), "float32"), 2, 3), ())
    assert alike(str(path), 1, call) == [
        f"{path}:2: y.reshape(1, 6).permute(1, 0).reshape(2, 3)", f"{path}:3: z.reshape(4, 1)"]
