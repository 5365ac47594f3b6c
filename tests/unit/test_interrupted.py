"""Ctrl-C ends every command with one line, whenever it comes."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from minrepro import cli
from minrepro.errors import Interrupted
from minrepro.record import interruptible

ROOT = Path(__file__).resolve().parents[2]
DURING_IMPORT = """
import os, signal, sys
import minrepro.__main__ as entry

class Interrupting:
    def find_spec(self, name, path=None, target=None):
        if name == "minrepro.cli":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting())
entry.main()
"""


def test_during_the_imports():
    done = subprocess.run([sys.executable, "-c", DURING_IMPORT], capture_output=True, text=True, timeout=60,
                          env={**os.environ, "PYTHONPATH": str(ROOT)})
    assert (done.returncode, done.stdout) == (130, "")
    assert done.stderr == "minrepro: interrupted before anything was begun\n"


def test_the_line_says_what_is_kept_and_where(tmp_path):
    with pytest.raises(Interrupted, match="nothing but logs is kept yet in"), interruptible(tmp_path):
        (tmp_path / "worker.log").touch()
        raise KeyboardInterrupt
    (tmp_path / "best.json").touch()
    with pytest.raises(Interrupted) as stopped, interruptible(tmp_path, lambda: "go on"):
        raise KeyboardInterrupt
    assert str(stopped.value) == f"interrupted; best.json kept in {tmp_path}; go on" and stopped.value.exit_status == 130


def test_a_command_without_a_folder_says_it_too(monkeypatch, capsys):
    def pressed():
        raise KeyboardInterrupt

    monkeypatch.setattr(sys, "argv", ["minrepro", "doctor"])
    monkeypatch.setattr(cli, "examine", pressed)
    with pytest.raises(SystemExit) as stop:
        cli.main()
    assert stop.value.code == 130 and capsys.readouterr().err.strip() == "minrepro: interrupted"
