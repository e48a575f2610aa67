"""A key, and a class of 20 that is graded once for the tests that compare with it; ``make proof`` grades 200."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom import classes, collecting, storage
from tests.autograder import a_class, nursery


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A file with the key of the tests, as ``--key`` takes it."""
    return a_class.written_key(tmp_path / "key")


@pytest.fixture(scope="session")
def with_torch() -> Iterator[socket.socket | None]:
    """A process that has imported torch."""
    with nursery.opened() as control:
        yield control


@pytest.fixture(scope="module")
def forked(with_torch: socket.socket | None) -> Iterator[None]:
    """Children without a sandbox are forked from a process that has imported torch."""
    with nursery.forking(with_torch):
        yield


@pytest.fixture(scope="session", params=[20, pytest.param(200, marks=pytest.mark.proof(part="classes"))])
def the_class(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Its ``size``, ``handed``, ``names``, the folder ``path`` and ``out``, in which threads have graded it."""
    path: Path = tmp_path_factory.mktemp("class") / "handed-in"
    names = a_class.write(path, request.param)
    handed, out = collecting.collect(path), path.with_name("graded")
    rows = classes.grade_class(handed, a_class.spec(), storage.Folder(out), workers=4)
    return SimpleNamespace(size=request.param, path=path, names=names, handed=handed, out=out, rows=rows)
