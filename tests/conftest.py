"""Options and fixtures of every suite."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cache

import pytest

from minrepro import backends, environments
from minrepro.environments import Environment
from minrepro.errors import BackendMissing
from minrepro.worker.client import Worker


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--update-golden`` rewrites the golden files instead of comparing with them."""
    parser.addoption("--update-golden", action="store_true", help="rewrite tests/golden instead of comparing")


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    """True if golden files are to be rewritten."""
    return request.config.getoption("--update-golden")


@pytest.fixture(scope="session")
def environment_of() -> Callable[[str], Environment]:
    """Backend name -> an environment that has it; the test is skipped, with the command to add it, where there is none.

    ``MINREPRO_TEST_PADDLE=paddle==3.0.0`` (or a spec with an interpreter) runs the live suite on something else.
    """

    @cache
    def find(name: str) -> Environment | BackendMissing:
        try:
            return environments.resolve(backends.parse(os.environ.get(f"MINREPRO_TEST_{name.upper()}", name)))
        except BackendMissing as error:
            return error

    def ask(name: str) -> Environment:
        found = find(name)
        if isinstance(found, BackendMissing):
            # Where the set-up is part of the run, a missing framework is a failure and not a reason to skip.
            (pytest.fail if os.environ.get("CI") else pytest.skip)(str(found))
        return found

    return ask


@pytest.fixture(scope="session")
def python_of(environment_of: Callable[[str], Environment]) -> Callable[[str], str]:
    """Backend name -> the interpreter of its environment."""
    return lambda name: environment_of(name).interpreter


@pytest.fixture(scope="session")
def workers(python_of, tmp_path_factory):
    """Backend name -> a running worker, shared by the whole session."""
    started: dict[str, Worker] = {}

    def ask(name: str) -> Worker:
        if name not in started:
            started[name] = Worker(backends.table()[name], python_of(name), tmp_path_factory.mktemp("workers"))
        return started[name]

    yield ask
    for worker in started.values():
        worker.stop()
