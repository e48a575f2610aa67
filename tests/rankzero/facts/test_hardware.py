"""Hardware records against what data sheets print in other terms: both directions, sparse peaks, whole systems."""

import pytest

from rankzero.facts import hardware as hw
from rankzero.facts.units import GB, PFLOP, TB, TFLOP, Gbit


def named(record):
    return record.name


@pytest.mark.parametrize(
    ("link", "both_directions", "per_link"),
    [
        (hw.NVLINK1, 160, 20),
        (hw.NVLINK2, 300, 25),
        (hw.NVLINK3, 600, 25),
        (hw.NVLINK4, 900, 25),
        (hw.NVLINK5, 1800, 50),
    ],
)
def test_nvlink_is_half_of_the_advertised_sum(link, both_directions, per_link):
    assert 2 * link.bandwidth == both_directions * GB
    assert link.bandwidth / link.links == per_link * GB


@pytest.mark.parametrize(("link", "gigatransfers"), [(hw.PCIE3, 8), (hw.PCIE4, 16), (hw.PCIE5, 32)])
def test_pcie_is_sixteen_lanes_after_line_coding(link, gigatransfers):
    assert link.bandwidth == pytest.approx(16 * gigatransfers * Gbit * 128 / 130, rel=1e-3)


@pytest.mark.parametrize(
    ("link", "gigabits"), [(hw.IB_HDR, 200), (hw.IB_NDR, 400), (hw.IB_XDR, 800), (hw.ETHERNET_100G, 100)]
)
def test_ports_are_sold_in_gigabits(link, gigabits):
    assert link.bandwidth == gigabits * 1e9 / 8


@pytest.mark.parametrize(
    ("gpu", "sparse_bf16", "sparse_fp8"),
    [
        (hw.A100_SXM, 624, None),
        (hw.H100_SXM, 1979, 3958),
        (hw.H200_SXM, 1979, 3958),
        (hw.B200_SXM, 4500, 9000),
        (hw.GB200, 5000, 10_000),
    ],
)
def test_dense_peaks_are_half_of_the_sparse_ones_that_data_sheets_print(gpu, sparse_bf16, sparse_fp8):
    assert 2 * gpu.peak_bf16 == pytest.approx(sparse_bf16 * TFLOP, rel=1e-3)
    assert (
        gpu.peak_fp8 is None if sparse_fp8 is None else 2 * gpu.peak_fp8 == pytest.approx(sparse_fp8 * TFLOP, rel=1e-3)
    )


@pytest.mark.parametrize(
    ("node", "memory", "memory_bandwidth", "sparse_fp8", "nvlink_both_ways"),
    [
        (hw.DGX_H100, 640 * GB, 26.8 * TB, 32 * PFLOP, 7.2 * TB),
        (hw.DGX_H200, 1128 * GB, 38.4 * TB, 32 * PFLOP, 7.2 * TB),
        (hw.DGX_B200, 1440 * GB, 64 * TB, 72 * PFLOP, 14.4 * TB),
        (hw.GB200_NVL72, 13.4 * TB, 576 * TB, 720 * PFLOP, 130 * TB),
    ],
    ids=["DGX H100", "DGX H200", "DGX B200", "GB200 NVL72"],
)
def test_systems_add_up_to_their_own_data_sheets(node, memory, memory_bandwidth, sparse_fp8, nvlink_both_ways):
    assert node.gpus * node.gpu.memory == pytest.approx(memory, rel=0.01)
    assert node.gpus * node.gpu.memory_bandwidth == pytest.approx(memory_bandwidth, rel=0.01)
    assert node.gpus * 2 * node.gpu.peak_fp8 == pytest.approx(sparse_fp8, rel=0.02)
    assert node.gpus * 2 * node.gpu.nvlink.bandwidth == pytest.approx(nvlink_both_ways, rel=0.01)


def test_a_dgx_h100_reaches_others_nine_times_slower_than_its_own():
    assert hw.DGX_H100.network_bandwidth == 400 * GB
    assert hw.DGX_H100.network_bandwidth_per_gpu == 50 * GB
    assert hw.H100_SXM.nvlink.bandwidth / hw.DGX_H100.network_bandwidth_per_gpu == 9


def test_an_h100_needs_295_flop_for_each_byte_it_reads():
    assert hw.H100_SXM.peak_bf16 / hw.H100_SXM.memory_bandwidth == pytest.approx(295.343, rel=1e-5)


@pytest.mark.parametrize("gpu", hw.GPUS, ids=named)
def test_memory_is_faster_than_nvlink_and_nvlink_than_the_host(gpu):
    assert gpu.memory_bandwidth > gpu.nvlink.bandwidth > gpu.host.bandwidth > 0


@pytest.mark.parametrize("record", [*hw.LINKS, *hw.GPUS, *hw.NODES], ids=named)
def test_every_record_names_its_source(record):
    assert record.name
    assert record.source


def test_every_record_is_listed():
    records = [value for value in vars(hw).values() if isinstance(value, hw.Link | hw.Gpu | hw.Node)]
    assert set(records) == {*hw.LINKS, *hw.GPUS, *hw.NODES}
