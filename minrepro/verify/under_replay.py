"""Runs a script as if it were started alone, on top of a replayed bug.

Executed by a framework's interpreter: ``python under_replay.py BACKEND_FILE REPLAY_FILE SCRIPT``. The replay imports the
framework and changes it; then a byte through the socket at standard input says so, and one that comes back that the
script is there. Python 3.8 syntax, and no import of minrepro: the script must not find it either.
"""

import importlib.util
import os
import runpy
import sys


def load(path):
    """Import a Python file by path under a name of its own."""
    spec = importlib.util.spec_from_file_location("minrepro_" + os.path.splitext(os.path.basename(path))[0], path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wait_for_script():
    """Say that the replay is in place, wait for the script, and leave it an empty standard input."""
    os.write(0, b".")
    if not os.read(0, 1):
        sys.exit(125)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)


if __name__ == "__main__":
    backend_file, replay_file, script = sys.argv[1:]
    # As for a script that is started directly: its own folder comes first, not this file's.
    sys.path[0] = os.path.dirname(os.path.abspath(script))
    sys.argv = [script]
    try:
        load(replay_file).install(load(backend_file))
    except ImportError as error:
        print("cannot install the replay: %s" % error, file=sys.stderr)
        sys.exit(125)
    wait_for_script()
    runpy.run_path(script, run_name="__main__")
