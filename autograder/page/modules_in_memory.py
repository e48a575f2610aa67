"""Modules of the course in the memory of Python, so that a picture of it needs no files beside it."""

from __future__ import annotations

import importlib.abc
import importlib.util
import os
import sys
from collections.abc import Iterator, Mapping, Sequence
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from autograder.page.install import ROOT

#: The texts of the files, by path.
_files: dict[str, str] = {}
_HERE = f"{ROOT}/"
_writing: set[str] = set()


class _Loader(importlib.abc.SourceLoader):
    """Loads one module from what is held."""

    def __init__(self, path: str) -> None:
        self.path = path

    def get_filename(self, fullname: str) -> str:
        """Where the module was."""
        return self.path

    def get_data(self, path: str) -> bytes:
        """The contents of a file.

        Raises:
            OSError: it is not held.
        """
        try:
            return _files[str(path)].encode()
        except KeyError:
            raise OSError(f"{path} is not held") from None


class _Finder(importlib.abc.MetaPathFinder):
    """Finds what no file has."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Where the module is held, if it is."""
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            for file, inside in ((f"{folder}/{name}/__init__.py", [f"{folder}/{name}"]), (f"{folder}/{name}.py", None)):
                if file in _files:
                    loader = _Loader(file)
                    return importlib.util.spec_from_file_location(
                        fullname, file, loader=loader, submodule_search_locations=inside
                    )
        return None


class _Folder:
    """A folder that is held, for :func:`pkgutil.iter_modules`; its modules are found by :class:`_Finder`."""

    def __init__(self, path: str) -> None:
        self._names = {file.removeprefix(f"{path}/") for file in _files if file.startswith(f"{path}/")}
        if not self._names:
            raise ImportError(f"{path} is not held")

    def find_spec(self, fullname: str, target: ModuleType | None = None) -> None:
        """Leave it to the finder."""

    def iter_modules(self, prefix: str = "") -> Iterator[tuple[str, bool]]:
        """The names of the modules in the folder; none of them is a package."""
        for name in sorted(self._names):
            if name.endswith(".py") and "/" not in name and name != "__init__.py":
                yield prefix + name.removesuffix(".py"), False


def hold(files: Mapping[str, str]) -> None:
    """Take in files of the course: their texts, by path. Each is written when somebody opens it."""
    _files.update({f"{ROOT}/{path}": text for path, text in files.items()})
    sys.meta_path.append(_Finder())
    sys.path_hooks.append(_Folder)
    sys.addaudithook(_opened)


def _opened(event: str, arguments: tuple[Any, ...]) -> None:
    """Write a file that is about to be opened."""
    if event == "open" and type(arguments[0]) is str and arguments[0].startswith(_HERE):
        _write(arguments[0])


def _write(path: str) -> None:
    if path not in _files or path in _writing or os.path.exists(path):
        return
    _writing.add(path)  # to write it, it is opened
    Path(path).parent.mkdir(parents=True, exist_ok=True)
    Path(path).write_text(_files[path], encoding="utf-8")
    _writing.remove(path)


def write(*starts: str) -> None:
    """Write the files whose paths begin so, for whoever looks whether they are there."""
    wanted = tuple(f"{ROOT}/{start}" for start in starts)
    for path in _files:
        if path.startswith(wanted):
            _write(path)
