"""The explorer of chapter 9's sizes: every state is a chart that the grammar accepts, and its numbers are right."""

from __future__ import annotations

import json

import pytest
import vl_convert
from hypothesis import given, settings
from hypothesis import strategies as st

from experiments.ch09.explorers import RANKS, cache_and_weights
from experiments.ch09.kv_shapes import HEADS, SHAPES, WAYS
from rankzero.explore import VEGA_LITE
from rankzero.facts.units import GB, KiB, MiB
from rankzero.figures.masks import squares

states = st.fixed_dictionaries(
    {
        "model": st.sampled_from(sorted(SHAPES)),
        "kv_heads": st.sampled_from(WAYS),
        "kv_bytes": st.sampled_from((2.0, 1.0, 0.5)),
        "context": st.sampled_from((1024, 32_768, 131_072)),
        "requests": st.integers(1, 128),
    }
)


def cache_by_ranks(**state) -> dict[str, float]:
    spec = cache_and_weights(**state)
    rows = spec["layer"][0]["data"]["values"] if "data" not in spec else spec["data"]["values"]
    return {row["tp"]: row["GB"] for row in rows if row["what"] == "keys and values"}


@settings(max_examples=4, deadline=None)
@given(states)
def test_every_state_is_a_chart(state):
    spec = cache_and_weights(**state)
    assert vl_convert.vegalite_to_svg(json.dumps(spec, allow_nan=False), vl_version=VEGA_LITE).startswith("<svg")


def test_sizes_of_the_page():
    llama = SHAPES["Llama 3 70B"]
    sizes = [llama.bytes_per_token(way) for way in ("one for each query head", "4", "1")]
    assert sizes == [2.5 * MiB, 160 * KiB, 40 * KiB]
    assert llama.bytes_per_token() == 320 * KiB
    deepseek = SHAPES["DeepSeek-V3"]
    assert deepseek.bytes_per_token() == deepseek.bytes_per_token(ranks=8) == 70_272
    assert deepseek.bytes_per_token("one for each query head") == 3_997_696
    assert deepseek.parameters == pytest.approx(671e9, rel=1e-3)
    kinds = {name: shape.kind for name, shape in SHAPES.items()}
    assert (kinds["GPT-3 175B"], kinds["Mixtral 8x7B"], kinds["DeepSeek-V3"]) == ("MHA", "GQA-8", "MLA")
    assert set(WAYS[1:]) == set(HEADS)
    assert all(shape.heads % heads == 0 for shape in SHAPES.values() for heads in HEADS.values() if heads)


def test_an_unknown_way_is_named():
    with pytest.raises(ValueError, match="way must be one of"):
        SHAPES["Llama 3 8B"].bytes_per_token("half a head")


def test_heads_are_split_until_one_is_left():
    """From 8 to 16 GPUs the cache of each stays; a latent stays from the start."""
    sizes = cache_by_ranks(model="Llama 3 70B", context=32_768, requests=8)
    whole = 8 * 32_768 * 327_680 / GB
    assert [sizes[str(t)] for t in RANKS] == pytest.approx([whole / min(t, 8) for t in RANKS])
    latent = cache_by_ranks(model="DeepSeek-V3")
    assert len(set(latent.values())) == 1
    assert set(cache_by_ranks(model="Llama 2 13B")) == {"1", "2", "4", "8"}  # 40 heads on 16 ranks: no


def test_squares():
    picture = squares({"a": [[0, 1], [2, 1]]}, x="column", y="row", names=("one", "two"), alt="A grid.")
    assert picture.alt == "A grid."
    assert 'aria-label="A grid."' in picture.html()
    with pytest.raises(ValueError, match="names must cover"):
        squares({"a": [[2]]}, x="", y="", names=("one",), alt="")
