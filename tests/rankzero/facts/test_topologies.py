"""Stored matrices: each can be read, and says what it is; this machine is asked, not made up."""

from __future__ import annotations

import os
import stat

import pytest

from rankzero.facts import topologies
from rankzero.facts.hardware import DGX_A100, DGX_H100, NVLINK2
from rankzero.facts.topologies import SAMPLES, this_machine
from solutions.ch04.topology import parse_topology


def gpus(name: str) -> list[str]:
    return [device for device in parse_topology(SAMPLES[name].text).devices if device.startswith("GPU")]


@pytest.mark.parametrize("name", SAMPLES)
def test_a_sample_can_be_read_and_says_that_it_is_one(name):
    sample = SAMPLES[name]
    topology = parse_topology(sample.text)
    assert sample.note.startswith("Stored sample, not this machine.")
    assert sample.name
    assert sample.source
    assert set(topology.cpus) == set(gpus(name))
    assert "Legend:" in sample.text


@pytest.mark.parametrize("name", SAMPLES)
def test_a_matrix_stands_in_its_columns(name):
    """Kills tabs, which a page lays out as it likes: entries begin where the column's head begins, none is lost."""
    text = topologies.aligned(SAMPLES[name].text)
    assert "\t" not in text
    assert text.split() == SAMPLES[name].text.split()
    header, *rows = text.splitlines()[: 1 + len(gpus(name))]
    start = header.index("GPU0")
    assert {row[start - 1] for row in rows} == {" "}
    if name == "cube-mesh":  # the one that the chapter prints
        assert max(map(len, text.splitlines())) <= 88


def test_the_samples_that_the_chapter_asks_for():
    assert {name: len(gpus(name)) for name in SAMPLES} == {
        "nvswitch": 8,
        "dgx-a100": 8,
        "cube-mesh": 8,
        "pcie": 6,
        "single": 1,
    }


@pytest.mark.parametrize(("name", "node"), [("nvswitch", DGX_H100), ("dgx-a100", DGX_A100)])
def test_behind_a_switch_every_pair_has_all_links_of_a_gpu(name, node):
    links = parse_topology(SAMPLES[name].text).links
    code = f"NV{node.gpu.nvlink.links}"
    assert len(gpus(name)) == node.gpus
    assert all(links[a][b] == code for a in gpus(name) for b in gpus(name) if a != b)
    cards = [device for device in links if not device.startswith("GPU")]
    assert len(cards) == node.ports
    near = {gpu: [card for card in cards if links[gpu][card] == "PXB"] for gpu in gpus(name)}
    assert all(near.values())


def test_a_gpu_of_the_cube_mesh_has_six_links():
    """Tesla V100: six NVLinks, of which each ends at another GPU; four neighbours, three GPUs out of reach."""
    links = parse_topology(SAMPLES["cube-mesh"].text).links
    for gpu in gpus("cube-mesh"):
        codes = [links[gpu][other] for other in gpus("cube-mesh") if other != gpu]
        assert sum(int(code[2:]) for code in codes if code.startswith("NV")) == NVLINK2.links
        assert codes.count("SYS") == 3


def test_one_sample_is_underlined_and_ragged():
    header = SAMPLES["pcie"].text.splitlines()[0]
    assert header.startswith("\x1b[4m")
    assert "\t\t" in header


# This machine.


def command(folder, script: str) -> str:
    """A stand-in for the real command."""
    file = folder / "nvidia-smi"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return str(folder) + os.pathsep + os.environ["PATH"]


def test_without_the_command_there_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert this_machine() is None


def test_the_command_is_asked_for_its_matrix(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", command(tmp_path, 'printf "\\tGPU0\\n%s\\t X \\n" GPU0; echo "$@"'))
    text = this_machine()
    assert text is not None
    assert text.endswith("topo -m\n")
    assert parse_topology(text).devices == ("GPU0",)


def test_a_command_that_fails_or_hangs_is_no_answer(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", command(tmp_path, "echo no driver; exit 9"))
    assert this_machine() is None
    monkeypatch.setattr(topologies, "TIME_LIMIT", 0.2)
    monkeypatch.setenv("PATH", command(tmp_path, "exec sleep 20"))
    assert this_machine() is None
