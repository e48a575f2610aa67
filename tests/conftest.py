"""What tests of several rooms share."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from rankzero.world import forkserver
from tools import browser as chrome
from tools.gates.resume import plain

#: Groups of tests, each of which takes minutes.
LONG = ("full marks", "rlhf runs", "instructors' guide", "contributing", "container", "class")

#: Rooms whose tests send functions of their own to ranks.
SENT = ("autograder", "demos", "experiments", "solutions")

#: Processes share the cores: a moment's wait is no failure, and neither is an input that was slow to draw. Laws get
#: more examples in ``make proof``.
settings.register_profile("laws", deadline=None, suppress_health_check=[HealthCheck.too_slow], max_examples=300)
settings.register_profile("course", settings.get_profile("laws"), max_examples=25)
settings.load_profile("course")

os.environ.setdefault("OMP_NUM_THREADS", "1")  # tests run side by side: one core for each


gc.disable()  # until the tests are collected: they stay


def pytest_collection_finish() -> None:
    """Garbage is collected among what tests make, and not among the tests."""
    gc.freeze()
    gc.enable()


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """A test is reported under its own name, without the group that pytest-xdist adds: so it can be run again alone."""
    if "PYTEST_XDIST_WORKER" not in os.environ:  # which hands on the report
        report.nodeid = plain(report.nodeid)


def pytest_make_parametrize_id(val: object) -> str | None:
    """A name for long bytes: an archive's hold the second in which it was made, so that the processes which share the
    tests would collect different ones."""
    return f"{len(val)} bytes" if isinstance(val, bytes) and len(val) > 40 else None


@pytest.hookimpl(tryfirst=True)  # before pytest-xdist reads the groups
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several processes share the tests by groups, the tests of a file are a group unless they name another: what
    a file computes once is computed once. Begin with those that take minutes, so that none is left alone with them at
    the end: long groups, and tests with a time limit of their own. The rest stays in its order."""
    if not getattr(config.option, "loadgroup", False):
        return
    for item in items:
        if item.get_closest_marker("xdist_group") is None:
            item.add_marker(pytest.mark.xdist_group(item.nodeid.partition("::")[0]))

    def long(item: pytest.Item) -> bool:
        group = item.get_closest_marker("xdist_group")
        return item.get_closest_marker("timeout") is not None or (group is not None and group.args[0] in LONG)

    items.sort(key=lambda item: not long(item))


@pytest.fixture(autouse=True, scope="module")
def prepared_ranks(request: pytest.FixtureRequest) -> Iterator[None]:
    """What ranks need for the functions of a test module, and torch for its first optimizer, is imported once, by the
    process that they are forked from. Each rank would import it anew: functions of tests are sent by name, and worlds
    follow one another too closely for that process to find the time itself."""
    current = forkserver.current

    def prepared() -> forkserver.Forkserver:
        server = current()
        server.preload([*forkserver.PRELOADED_LATER, request.module.__name__])
        return server

    with pytest.MonkeyPatch.context() as patch:
        if request.path.relative_to(request.config.rootpath).parts[1] in SENT:
            patch.setattr(forkserver, "current", prepared)
        yield


@pytest.fixture(scope="session")
def browser() -> Iterator[object]:
    """One Chromium for the session."""
    if chrome.executable() is None:
        pytest.skip("Chromium is not installed (make debian)")
    with chrome.chromium() as running:
        yield running
