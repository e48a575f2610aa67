"""The tiny model against torch's own attention, counted FLOPs, its parts, its cache, and a record of its shape."""

import math
import tomllib
from itertools import islice, pairwise

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import nn
from torch.nn import functional
from torch.utils.flop_counter import FlopCounterMode

from rankzero import tiny
from rankzero.tiny import GPT, BpeTokenizer, ByteTokenizer, GPTConfig, KVCache
from rankzero.tiny.text import learn_merges
from tools.common import ROOT

SHAPES = {
    "default": GPTConfig(),
    "grouped": GPTConfig(vocab=50, layers=3, heads=6, kv_heads=2, head_dim=8, ffn=40, context=32),
    "one key head": GPTConfig(vocab=11, layers=2, heads=4, kv_heads=1, head_dim=4, ffn=7, context=24),
    "value head": GPTConfig(vocab=30, layers=2, heads=2, head_dim=6, context=16, outputs=1),
}
SMALL = SHAPES["grouped"]


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """Tests run side by side; threads of one would wait for the other's."""
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture(params=SHAPES.values(), ids=SHAPES.keys())
def config(request):
    return request.param


def tokens(config, batch, length, seed=0):
    return torch.randint(config.vocab, (batch, length), generator=torch.Generator().manual_seed(seed))


def close(a, b):
    torch.testing.assert_close(a, b, rtol=1e-10, atol=1e-10)


# An independent computation: torch's attention, rotation by complex numbers, weights by name.


def turned(x, positions):
    """Rotary positions as complex numbers: the two halves of a head are the real and the imaginary parts."""
    half = x.shape[-1] // 2
    speed = torch.tensor([10_000.0 ** (-i / half) for i in range(half)], dtype=torch.float64)
    angle = torch.exp(1j * positions[:, None, :, None] * speed)
    product = torch.complex(x[..., :half], x[..., half:]) * angle
    return torch.cat((product.real, product.imag), dim=-1)


def normed(x, gain):
    return x / torch.sqrt((x * x).mean(-1, keepdim=True) + 1e-5) * gain


def recomputed(model, ids, positions=None, mask=None):
    """Logits of all tokens at once, from the model's weights and torch's attention."""
    c, w = model.config, dict(model.named_parameters())
    batch, length = ids.shape
    positions = torch.arange(length).expand(batch, length) if positions is None else positions
    x = w["embedding.weight"][ids]
    for i in range(c.layers):
        layer = {name.removeprefix(f"blocks.{i}."): p for name, p in w.items() if name.startswith(f"blocks.{i}.")}
        y = normed(x, layer["attention_norm.weight"])
        q, k, v = (y @ layer[f"attention.{part}.weight"].T for part in ("query", "key", "value"))
        q, k, v = (p.reshape(batch, length, -1, c.head_dim).transpose(1, 2) for p in (q, k, v))
        allowed = {"is_causal": True} if mask is None else {"attn_mask": mask[:, None]}
        seen = functional.scaled_dot_product_attention(
            turned(q, positions), turned(k, positions), v, enable_gqa=True, **allowed
        )
        x = x + seen.transpose(1, 2).reshape(batch, length, -1) @ layer["attention.output.weight"].T
        y = normed(x, layer["ffn_norm.weight"])
        gate = y @ layer["ffn.gate.weight"].T
        x = x + (gate * torch.sigmoid(gate) * (y @ layer["ffn.up.weight"].T)) @ layer["ffn.down.weight"].T
    return normed(x, w["norm.weight"]) @ w["head.weight"].T


def test_equals_torchs_attention(config):
    model = GPT(config, seed=3).double()
    for parameter in model.parameters():  # norm gains other than 1
        parameter.data += 0.1 * torch.rand(parameter.shape, dtype=torch.float64)
    ids = tokens(config, 3, config.context)
    logits = model(ids)
    assert logits.shape == (3, config.context, config.outputs or config.vocab)
    close(logits, recomputed(model, ids))


def test_equals_torchs_attention_with_positions_and_a_mask():
    """Kills a model that ignores either, or that adds the causal rule to a mask that is given."""
    model = GPT(SMALL).double()
    ids, generator = tokens(SMALL, 2, 9), torch.Generator().manual_seed(1)
    positions = torch.randint(1000, (2, 9), generator=generator)
    mask = (torch.rand((2, 9, 9), generator=generator) < 0.4) | torch.eye(9, dtype=torch.bool)
    close(model(ids, positions=positions, mask=mask), recomputed(model, ids, positions, mask))


def test_only_differences_of_positions_matter():
    model = GPT(SMALL).double()
    ids = tokens(SMALL, 2, 8)
    close(model(ids, positions=torch.arange(500, 508).expand(2, 8)), model(ids))


# Counts.


def test_counted_flops_are_those_of_the_formula(config):
    """Forward 2 N T + 4 L width s T, forward and backward exactly three times that."""
    model, batch, length = GPT(config), 3, 13
    ids = tokens(config, batch, length)
    formula = (2 * model.matmul_parameters + 4 * config.layers * config.hidden * length) * batch * length
    with FlopCounterMode(display=False) as forward, torch.no_grad():
        model(ids)
    with FlopCounterMode(display=False) as both:
        model(ids).sum().backward()
    assert forward.get_total_flops() == formula
    assert both.get_total_flops() == 3 * formula


def test_matmul_parameters_by_hand():
    """Grouped: 48 wide, 2 key heads of 8, feed-forward 40, vocabulary 50; no look-up, no gains."""
    layer = 48 * 48 + 2 * 48 * 16 + 48 * 48 + 3 * 48 * 40
    assert GPT(SMALL).matmul_parameters == 3 * layer + 48 * 50
    assert GPT(SMALL).part(range(1, 2), False, False).matmul_parameters == layer


@pytest.mark.parametrize("shape", ["default", "grouped", "one key head"])
def test_record_counts_the_real_parameters(shape):
    model = GPT(SHAPES[shape])
    record = model.config.as_model()
    assert record.parameters == sum(parameter.numel() for parameter in model.parameters())
    assert (record.hidden, record.kv_heads, record.ffn) == (
        model.config.hidden,
        model.config.kv_heads,
        model.config.ffn,
    )


def test_a_value_head_has_no_record():
    with pytest.raises(ValueError, match="outputs must be None or vocab = 30 in a record, got 1"):
        SHAPES["value head"].as_model()


# Parts.

CUTS = [[0, 4], [0, 1, 4], [0, 2, 4], [0, 1, 2, 3, 4], [0, 0, 4]]


def parts(model, cut):
    spans = [range(*pair) for pair in pairwise(cut)]
    return [model.part(span, i == 0, i == len(spans) - 1) for i, span in enumerate(spans)]


@pytest.mark.parametrize("cut", CUTS, ids=str)
def test_parts_in_sequence_are_the_model(cut):
    """Values and gradients are bitwise those of the whole, also when every cut is a message without a graph."""
    whole, cutting = GPT(GPTConfig(), seed=1), GPT(GPTConfig(), seed=1)
    inputs, targets = next(tiny.batches(batch=2, context=16))
    loss = tiny.loss(whole, inputs, targets)
    loss.backward()

    chain, arrived, left = parts(cutting, cut), [], []
    x = inputs
    for part in chain:
        arrived.append(x.detach().requires_grad_() if x.is_floating_point() else x)
        left.append(x := part(arrived[-1]))
    mine = functional.cross_entropy(x.flatten(0, 1), targets.flatten())
    mine.backward()
    for before, after in zip(reversed(left[:-1]), reversed(arrived[1:]), strict=True):
        before.backward(after.grad)

    assert torch.equal(mine, loss)
    expected = dict(whole.named_parameters())
    for part in chain:
        for name, parameter in part.named_parameters():
            assert torch.equal(parameter.grad, expected.pop(name).grad), name
    assert not expected


def test_parts_share_the_parameters():
    model = GPT(SMALL)
    mine, whole = dict(model.part(range(1, 3), False, True).named_parameters()), dict(model.named_parameters())
    assert "blocks.2.attention.query.weight" in mine
    assert all(mine[name] is whole[name] for name in mine)


@pytest.mark.parametrize("blocks", [range(0, 4), range(-1, 2), range(0, 3, 2), range(2, 1)], ids=str)
def test_impossible_parts(blocks):
    with pytest.raises(ValueError, match=r"blocks must be a range within range\(0, 3\), got range"):
        GPT(SMALL).part(blocks, True, True)


# Cache.


@settings(max_examples=12, deadline=None)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5))
def test_cached_logits_are_the_uncached(lengths):
    """However the tokens are cut into passes."""
    model = GPT(SMALL).double()
    ids = tokens(SMALL, 2, sum(lengths))
    cache, pieces = KVCache(model, 2), []
    for piece in ids.split(lengths, dim=1):
        pieces.append(model(piece, cache=cache))
        assert cache.length == sum(p.shape[1] for p in pieces)
    close(torch.cat(pieces, dim=1), model(ids))


def test_every_part_has_a_cache_of_its_own():
    model = GPT(GPTConfig()).double()
    ids, chain = tokens(model.config, 2, 10), parts(model, [0, 1, 4])
    caches, out = [KVCache(part, 2) for part in chain], []
    for piece in ids.split(4, dim=1):
        x = piece
        for part, cache in zip(chain, caches, strict=True):
            x = part(x, cache=cache)
        out.append(x)
    close(torch.cat(out, dim=1), model(ids))
    assert sum(cache.nbytes for cache in caches) == KVCache(model, 2).nbytes == 2 * 4 * 2 * 4 * 128 * 16 * 8


def test_a_padded_batch_with_a_cache_equals_each_alone():
    """Rows of 3, 7 and 5 tokens, padded on the left: own positions, a mask that leaves padding out, then 4 steps."""
    model, lengths, longest = GPT(SMALL).double(), (3, 7, 5), 7
    ids = tokens(SMALL, 3, longest + 4)
    start = torch.tensor([[longest - n] for n in lengths])
    slots, cache, out = torch.arange(longest + 4), KVCache(model, 3), []
    for new in (slots[:longest], *slots[longest:].split(1)):
        total = int(new[-1]) + 1
        mask = (slots[:total] >= start[:, None]) & (slots[:total] <= new[:, None])
        out.append(model(ids[:, new], positions=(new - start).clamp(min=0), mask=mask, cache=cache))
    together = torch.cat(out, dim=1)
    assert together.isfinite().all()
    for row, n in enumerate(lengths):
        close(together[row, longest - n :], model(ids[row : row + 1, longest - n :])[0])


def test_a_cache_forgets_when_its_length_is_set_back():
    model = GPT(SMALL).double()
    ids, cache = tokens(SMALL, 1, 8), KVCache(model, 1)
    model(ids, cache=cache)
    cache.length = 5
    close(model(ids[:, 5:], cache=cache), model(ids)[:, 5:])


def test_a_cache_appends_in_place_and_holds_no_graph():
    model = GPT(SMALL)
    cache = KVCache(model, 1)
    before = cache.keys.data_ptr()
    model(tokens(SMALL, 1, 3), cache=cache).sum().backward()
    assert cache.keys.data_ptr() == before
    assert not cache.keys.requires_grad
    assert cache.keys[:, :, :, :3].abs().sum() > 0
    assert cache.keys[:, :, :, 3:].abs().sum() == 0


# Weights, training.


def test_weights_come_from_the_seed_alone():
    torch.manual_seed(1)
    first, drawn = GPT(SMALL, seed=5), torch.rand(1)
    torch.manual_seed(2)
    second, other = GPT(SMALL, seed=5), GPT(SMALL, seed=6)
    torch.manual_seed(1)
    assert torch.rand(1) == drawn  # building a model draws nothing from the global generator
    same = [torch.equal(a, b) for a, b in zip(first.parameters(), second.parameters(), strict=True)]
    assert all(same)
    assert not torch.equal(first.head.weight, other.head.weight)


def test_an_untrained_model_is_about_uniform():
    model = GPT(GPTConfig(vocab=257))
    assert tiny.loss(model, *next(tiny.batches(seed=7))).item() == pytest.approx(math.log(257), rel=0.15)


def test_training_lowers_the_loss_and_repeats():
    """Held-out pieces: far below the untrained model, and below what letter frequencies alone give (3.1 nats)."""
    config = GPTConfig(vocab=257, layers=2, context=64)
    unseen = next(tiny.batches(batch=32, seed=99))
    before, model = GPT(config), tiny.train(steps=40, config=config)
    counts = torch.bincount(torch.tensor(ByteTokenizer().encode(tiny.bundled_text()))).double()
    frequencies = counts[counts > 0] / counts.sum()
    entropy = -(frequencies * frequencies.log()).sum()
    with torch.no_grad():
        assert tiny.loss(model, *unseen) < min(entropy, tiny.loss(before, *unseen) - 2)
    first, again = (tiny.train(steps=3, config=config, seed=5) for _ in range(2))
    assert torch.equal(first.head.weight, again.head.weight)


def test_training_takes_any_text_and_no_steps():
    config = GPTConfig(vocab=8, layers=1, heads=2, head_dim=4, context=8)
    learnt = tiny.train([0, 1, 2, 3] * 9, steps=40, config=config)
    assert learnt(torch.tensor([[0, 1, 2]]))[0].argmax(-1).tolist() == [1, 2, 3]
    untrained = tiny.train(steps=0, seed=4)
    assert torch.equal(untrained.head.weight, GPT(GPTConfig(vocab=257), seed=4).head.weight)


def test_training_gives_the_threads_back():
    threads = torch.get_num_threads()
    try:
        torch.set_num_threads(2)
        tiny.train([0, 1] * 9, steps=1, config=GPTConfig(vocab=2, layers=1, heads=1, head_dim=2, context=4))
        assert torch.get_num_threads() == 2
    finally:
        torch.set_num_threads(threads)


def test_value_heads_learn_a_number():
    """One output per token, its gradient in every parameter."""
    model = GPT(SHAPES["value head"])
    nn.functional.mse_loss(model(tokens(model.config, 2, 5)).squeeze(-1), torch.ones(2, 5)).backward()
    assert all(parameter.grad.abs().sum() > 0 for parameter in model.parameters())


# Refusals.


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"outputs": 0}, "outputs must be an integer >= 1, got 0"),
        ({"kv_heads": 3}, "kv_heads must divide heads = 4, got 3"),
        ({"head_dim": 5}, "head_dim must be even, got 5"),
    ],
)
def test_impossible_shapes(given, message):
    with pytest.raises(ValueError, match=f"^{message}$"):
        GPTConfig(**given)


def test_impossible_passes():
    model, ids = GPT(SMALL), tokens(SMALL, 1, 30)
    cache = KVCache(model, 1)
    model(ids, cache=cache)
    with pytest.raises(ValueError, match="tokens must be at most context = 32, got 33"):
        model(ids[:, :3], cache=cache)
    assert cache.length == 30
    with pytest.raises(
        ValueError, match=r"mask must be bool of shape \(1, 2, 32\), got torch.bool of shape \(1, 2, 2\)"
    ):
        model(ids[:, :2], cache=cache, mask=torch.ones(1, 2, 2, dtype=torch.bool))
    with pytest.raises(ValueError, match=r"got torch\.float32"):
        model(ids[:, :2], mask=torch.ones(1, 2, 2))


# Text.


def test_bundled_text_is_small_and_plain():
    text = tiny.bundled_text()
    assert 100_000 < len(text.encode()) <= 200_000
    assert text.isascii()
    assert "\r" not in text
    assert text.startswith("ALICE'S ADVENTURES IN WONDERLAND\n")
    assert text.endswith("THE END\n")


def test_a_wheel_contains_the_text():
    """The pattern in pyproject.toml covers the file and the note on its source."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["setuptools"]["package-data"]["rankzero"]
    shipped = {file.name for pattern in patterns for file in (ROOT / "rankzero").glob(pattern)}
    assert {"alice.txt", "merges.txt", "README.md"} <= shipped


TOKENIZERS = {"bytes": ByteTokenizer(), "pairs": BpeTokenizer()}


@pytest.mark.parametrize("name", TOKENIZERS)
@given(text=st.text() | st.text("Alice saw the Rabbit. \n\U0001f600"))
def test_tokens_there_and_back(name, text):
    tokenizer = TOKENIZERS[name]
    assert tokenizer.decode([*tokenizer.encode(text), tokenizer.eos]) == text
    assert b"".join(tokenizer.vocabulary[token] for token in tokenizer.encode(text)) == text.encode()


def test_pairs_by_hand():
    """The example of the literature: aa first, then ab (before aaa, which is as frequent), then both."""
    merges = learn_merges("aaabdaaabac", 3)
    assert merges == [(97, 97), (97, 98), (257, 258)]
    tokenizer = BpeTokenizer(merges)
    assert tokenizer.vocabulary[256:] == [b"", b"aa", b"ab", b"aaab"]
    assert tokenizer.encode("aaabdaaabac") == [259, 100, 259, 97, 99]
    assert learn_merges("ab", 9) == [(97, 98)]


def test_committed_merges_are_those_of_the_text():
    """The first are learnt again; every one makes a token of its own, and the text gets three times shorter."""
    tokenizer, text = TOKENIZERS["pairs"], tiny.bundled_text()
    assert len(set(tokenizer.vocabulary)) == len(tokenizer.vocabulary) == 257 + 1000
    assert BpeTokenizer(learn_merges(text, 4)).vocabulary == tokenizer.vocabulary[: 257 + 4]
    assert len(tokenizer.encode(text)) < len(text) / 2.5


@given(
    st.sampled_from([" surprised", " the", "thethethe", "Wonderland", " beginning"])
    | st.from_regex(r" ?[a-z]{1,9}", fullmatch=True)
)
def test_pairs_are_merged_in_the_order_in_which_they_were_learnt(word):
    """Kills greedy longest match: one merge after the other over the whole word, as it was learnt."""
    tokenizer, tokens = TOKENIZERS["pairs"], [bytes([byte]) for byte in word.encode()]
    for line in (ROOT / "rankzero" / "data" / "merges.txt").read_text().splitlines():
        left, right = (tokenizer.vocabulary[int(token)] for token in line.split())
        place = 0
        while place < len(tokens) - 1:
            if tokens[place : place + 2] == [left, right]:
                tokens[place : place + 2] = [left + right]
            place += 1
    assert [tokenizer.vocabulary[token] for token in tokenizer.encode(word)] == tokens


def test_tokens_outside_the_vocabulary():
    assert len(ByteTokenizer().vocabulary) == 257
    assert ByteTokenizer().decode([72, 255]) == "H�"
    for token in (257, -1):
        with pytest.raises(ValueError, match=rf"tokens must be from 0 to 256, got \[{token}\]"):
            ByteTokenizer().decode([token])


def test_batches_are_pieces_of_the_text():
    pairs = list(islice(tiny.batches(batch=4, context=20, seed=2), 3))
    text, decode = tiny.bundled_text(), ByteTokenizer().decode
    for inputs, targets in pairs:
        assert inputs.shape == targets.shape == (4, 20)
        assert inputs.dtype == targets.dtype == torch.int64
        assert torch.equal(inputs[:, 1:], targets[:, :-1])
        assert all(decode([*row.tolist(), int(after[-1])]) in text for row, after in zip(inputs, targets, strict=True))
    assert not torch.equal(pairs[0][0], pairs[1][0])
    assert torch.equal(pairs[0][0], next(tiny.batches(batch=4, context=20, seed=2))[0])
    assert not torch.equal(pairs[0][0], next(tiny.batches(batch=4, context=20, seed=3))[0])


def test_batches_reach_both_ends_of_the_text():
    inputs, targets = next(tiny.batches([7, 8, 9, 10], batch=200, context=2))
    assert {tuple(row) for row in inputs.tolist()} == {(7, 8), (8, 9)}
    assert {int(row[-1]) for row in targets} == {9, 10}


def test_a_text_is_longer_than_a_sequence():
    with pytest.raises(ValueError, match="context must be smaller than the text of 3 tokens, got 3"):
        tiny.batches("abc", context=3)
