"""A key, and a class of 20 that is graded once for the tests that compare with it; ``make proof`` grades 200."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from autograder.classroom import classes, collecting, storage
from rankzero import world
from rankzero.world import serialization
from tests.autograder import a_class


@pytest.fixture(scope="session", autouse=True)
def imported_once() -> Iterator[None]:
    """A rank finds a program of a test by its module's name. The module, which imports a whole bank, is imported once,
    where ranks are forked from, and not in each of them."""
    pack = serialization.pack_call

    def packed(function: object, arguments: tuple[object, ...]) -> bytes:
        modules = {getattr(one, "__module__", None) or "" for one in (function, *arguments)}
        if found := sorted(name for name in modules if "test_" in name):
            world.prepare(*found)
        return pack(function, arguments)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(serialization, "pack_call", packed)
        yield


@pytest.fixture
def key(tmp_path: Path) -> str:
    """A file with the key of the tests, as ``--key`` takes it."""
    return a_class.written_key(tmp_path / "key")


@pytest.fixture(scope="session", params=[20, pytest.param(200, marks=pytest.mark.proof(part="classes"))])
def the_class(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> SimpleNamespace:
    """Its ``size``, ``handed``, ``names``, the folder ``path`` and ``out``, in which threads have graded it."""
    path: Path = tmp_path_factory.mktemp("class") / "handed-in"
    names = a_class.write(path, request.param)
    handed, out = collecting.collect(path), path.with_name("graded")
    rows = classes.grade_class(handed, a_class.spec(), storage.Folder(out), workers=4)
    return SimpleNamespace(size=request.param, path=path, names=names, handed=handed, out=out, rows=rows)
