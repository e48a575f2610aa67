"""The demos of chapter 4: what each shows must hold, a false result is status 1, a wrong command status 2."""

from __future__ import annotations

import math

import pytest
from demo_runs import run, table

from demos.ch04 import fit_link, topology, trees
from rankzero.facts.topologies import SAMPLES
from solutions.ch04.all_reduce_algorithms import double_binary_tree

# Reading a machine.


@pytest.mark.proof(part="runs")
@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_says_that_it_is_one(name, tmp_path, capsys):
    rows = table(tmp_path, "topology", "--sample", name)
    assert [row["GPU"] for row in rows] == [f"GPU{n}" for n in range(len(rows))]
    assert "Stored sample, not this machine." in capsys.readouterr().out
    assert run("topology", "--sample", name, "--save", str(tmp_path / "circle.svg")) == 0


def test_without_a_gpu_the_demo_says_so(monkeypatch, capsys):
    monkeypatch.setattr(topology, "this_machine", lambda: None)
    assert run("topology") == 0
    assert capsys.readouterr().out.startswith("nvidia-smi does not answer here. DGX H100. Stored sample")


def test_with_one_it_shows_this_machine(monkeypatch, capsys):
    monkeypatch.setattr(topology, "this_machine", lambda: SAMPLES["pcie"].text)
    assert run("topology") == 0
    assert capsys.readouterr().out.startswith("this machine, as nvidia-smi topo -m prints it")


def test_a_file_is_read_and_a_wrong_one_is_status_2(tmp_path, capsys):
    file = tmp_path / "matrix.txt"
    file.write_text(SAMPLES["cube-mesh"].text)
    assert run("topology", "--file", str(file)) == 0
    assert "GPU0 - GPU3 - GPU2 - GPU1 - GPU5 - GPU6 - GPU7 - GPU4" in capsys.readouterr().out
    file.write_text("nothing to see")
    with pytest.raises(SystemExit) as end:
        run("topology", "--file", str(file))
    assert end.value.code == 2
    assert "text must hold the matrix" in capsys.readouterr().err


# Trees.


def test_the_laws_catch_wrong_trees():
    """Kills: laws that every pair of trees keeps."""
    right, left = double_binary_tree(8)
    assert trees.broken_law((right, left), 8) == ""
    assert trees.broken_law((right, right), 8) == "of 8 ranks, [0, 2, 4, 6] pass on in both trees"
    assert "not a rank" in trees.broken_law((right, [None, 0, 0, 8, 0, 0, 0, 0]), 8)
    assert "does not reach" in trees.broken_law((right, [None, None, 1, 1, 3, 3, 5, 5]), 8)
    assert "does not reach" in trees.broken_law((right, [None, 2, 1, 0, 3, 3, 4, 4]), 8)
    assert "three children" in trees.broken_law((right, [None, 0, 0, 0, 1, 1, 2, 2]), 8)
    assert "too many levels" in trees.broken_law((right, [None, 0, 1, 2, 3, 4, 5, 6]), 8)


@pytest.mark.parametrize("ranks", ["1", "2", "7", "64"])
def test_trees_of_any_size(ranks, tmp_path):
    rows = table(tmp_path, "trees", "--ranks", ranks, "--check", "8")
    received = [float(row["tensors received"]) for row in rows]
    assert len(rows) == int(ranks)
    assert sum(received) == pytest.approx(2 * (int(ranks) - 1))


# Costs.


@pytest.mark.parametrize("ranks", ["1", "3", "6", "1024"])
def test_curves_of_any_number_of_ranks(ranks, tmp_path, capsys):
    rows = table(tmp_path, "cost_curves", "--ranks", ranks)
    assert ("halving_doubling (us)" in rows[0]) == (int(ranks) in (1, 1024))
    assert ("never slower" in capsys.readouterr().out) == (int(ranks) <= 3)


# Measuring.


def test_times_that_do_not_grow_are_said_and_status_1(monkeypatch, capsys):
    monkeypatch.setattr(fit_link, "ping_pong", lambda sizes, repeats: {size: 1 / (1 + size) for size in sizes})
    assert run("fit_link", "--quick") == 1
    assert "the fitted time must grow with the size" in capsys.readouterr().out


def test_a_busy_moment_is_measured_again(monkeypatch, capsys):
    """Kills: a demo that fails because the machine was busy once."""
    moments = [lambda size: 1 / (1 + size), lambda size: 1e-5 + size / 2e9]

    def measured(sizes, repeats):
        moment = moments.pop(0)
        return {size: moment(size) for size in sizes}

    monkeypatch.setattr(fit_link, "ping_pong", measured)
    assert run("fit_link", "--quick") == 0
    said = capsys.readouterr().out
    assert "measured again: the fitted time must grow with the size" in said
    assert "alpha 10 µs, B 2 GB/s" in said


def test_the_bench_labels_both_bandwidths(tmp_path):
    arguments = ("--ranks", "2", "--sizes", "4KiB,64KiB", "--algorithm", "tree,library", "--repeats", "1")
    rows = table(tmp_path, "all_reduce_bench", *arguments)
    assert [(row["algorithm"], row["bytes"]) for row in rows] == [
        ("tree", "4096"),
        ("tree", "65536"),
        ("library", "4096"),
        ("library", "65536"),
    ]
    for row in rows:
        assert math.isclose(float(row["algbw (GB/s)"]), float(row["bytes"]) / float(row["median (ms)"]) / 1e6)
        assert float(row["busbw (GB/s)"]) == pytest.approx(float(row["algbw (GB/s)"]))  # 2(N-1)/N is 1 for two ranks


# Wrong parts.


def test_trees_that_break_a_law_are_status_1(found_out):
    said = found_out("trees", "double_binary_tree", lambda right: lambda ranks: 2 * right(ranks)[:1], "--quick")
    assert "break a rule; the first: of 2 ranks, [0] pass on in both trees" in said


def test_a_crossover_that_is_none_is_status_1(found_out):
    found_out("cost_curves", "crossover_bytes", lambda right: lambda *_, **__: 256e3)


@pytest.mark.proof(part="runs")
def test_a_fit_that_is_not_the_best_is_status_1(found_out):
    found_out("fit_link", "fit_alpha_beta", lambda right: lambda sizes, seconds: (1e-3, 1e6), "--quick")
