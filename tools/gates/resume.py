"""A pytest plugin that leaves out the tests that passed in an earlier run, and notes those that pass in this one.

``RANKZERO_PASSED`` names the file with a line for each test, and ``RANKZERO_BEFORE`` how many of its lines were there
before the run: processes that share the tests must leave out the same ones, whenever they look.
"""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest


def known(passed: Path) -> list[str]:
    """The tests that passed already; a last line that was cut off is none."""
    return passed.read_text(encoding="utf-8").split("\n")[:-1] if passed.exists() else []


def settings(passed: Path) -> dict[str, str]:
    """The environment of a run that goes on."""
    return {"RANKZERO_PASSED": str(passed), "RANKZERO_BEFORE": str(len(known(passed)))}


def plain(test: str) -> str:
    """A test's id without the group by which processes share it: ``a.py::b[c]@group`` is ``a.py::b[c]``."""
    return re.sub(r"@[^\]]*$", "", test)


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what passed before."""
    before = set(known(Path(os.environ["RANKZERO_PASSED"]))[: int(os.environ["RANKZERO_BEFORE"])])
    gone = [item for item in items if plain(item.nodeid) in before]
    if gone:
        items[:] = [item for item in items if plain(item.nodeid) not in before]
        config.hook.pytest_deselected(items=gone)


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    """Nothing left to run is a success where something passed before."""
    if exitstatus == pytest.ExitCode.NO_TESTS_COLLECTED and int(os.environ["RANKZERO_BEFORE"]):
        session.exitstatus = pytest.ExitCode.OK


class Noting:
    """Notes the tests that pass. Where processes share the tests, the one that hands them out hears of all."""

    def __init__(self, passed: Path) -> None:
        self.passed = passed
        self.not_passed: set[str] = set()

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """A test has passed when all three of its phases have."""
        test = plain(report.nodeid)
        if not report.passed:
            self.not_passed.add(test)
        elif report.when == "teardown" and test not in self.not_passed:
            with self.passed.open("a", encoding="utf-8") as file:
                file.write(f"{test}\n")


def pytest_configure(config: pytest.Config) -> None:
    """Only the process that hands out the tests notes them."""
    if not hasattr(config, "workerinput"):
        config.pluginmanager.register(Noting(Path(os.environ["RANKZERO_PASSED"])))
