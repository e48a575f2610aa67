"""The same class on a Dask cluster: two worker processes give the same files as threads of the grader."""

from __future__ import annotations

import os

import pytest

from autograder.__main__ import main
from autograder.classroom import classes, storage, worker
from tests.autograder import a_class

distributed = pytest.importorskip("distributed", reason="dask.distributed is not installed (the extra dask)")
pytestmark = [pytest.mark.xdist_group("class"), pytest.mark.proof(part="classes")]


@pytest.fixture(scope="module")
def cluster():
    """Two processes with a thread each, on free ports, without a dashboard."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, worker_dashboard_address=None
    ) as running:
        yield running


def test_a_class_on_two_processes_is_the_same(the_class, cluster, tmp_path):
    with distributed.Client(cluster, set_as_default=False) as client:
        executor = client.get_executor()
        assert os.getpid() not in client.run(os.getpid).values()
        rows = classes.grade_class(the_class.handed, a_class.spec(), storage.Folder(tmp_path / "out"), executor, 2)
    assert len(rows) == the_class.size
    assert a_class.content(tmp_path / "out") == a_class.content(the_class.out)


def test_a_worker_holds_no_expected_value(cluster):
    """Kills: sending the papers with the questions."""
    with distributed.Client(cluster, set_as_default=False) as client:
        exam = client.submit(_papers, a_class.spec()).result()
    assert exam == {}


def _papers(spec: worker.Spec) -> dict:
    exam, _ = worker.tools(spec)
    return exam._papers


def test_the_command_line_takes_the_address_of_a_cluster(cluster, tmp_path, key):
    """And no worker needs more than the folder, the key and what is asked."""
    few = tmp_path / "in"
    few.mkdir()
    for name in ("anna", "ben"):
        (few / f"{name}.py").write_text(a_class.reference())
    command = ["grade-class", str(few), "--key", key, "--only", a_class.ITEMS[0], "--sandbox", "best"]
    assert main([*command, "--out", str(tmp_path / "far"), "--dask", cluster.scheduler_address]) == 0
    assert main([*command, "--out", str(tmp_path / "near")]) == 0
    assert a_class.content(tmp_path / "far") == a_class.content(tmp_path / "near")
    assert "anna" in (tmp_path / "far" / "class.csv").read_text()


@pytest.mark.parametrize("address", ["tcp://127.0.0.1:1", "nowhere"])
def test_a_cluster_that_is_not_there_is_one_line(address, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("autograder.commands.classes.DASK_TIMEOUT", 0.2)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "anna.py").write_text(a_class.reference())
    command = ["grade-class", str(tmp_path / "in"), "--out", str(tmp_path / "out"), "--only", a_class.ITEMS[0]]
    assert main([*command, "--dask", address]) == 2
    assert f"there is no Dask scheduler at {address}" in capsys.readouterr().err.splitlines()[-1]
    assert not (tmp_path / "out").exists()
