"""Shapes of published transformers, and the number of parameters that follows from a shape.

>>> LLAMA3_8B.parameters
8030261248

A record holds what its source and the released configuration print; parameter counts are computed from it.
``Model.parameters`` is the only place where exact counts come from: every part of the course can import it, and it
covers older and sparse models too (learned positions, biases, experts). Standard library only.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Model:
    """The shape of a decoder-only transformer.

    Attributes:
        name: the authors' name for it.
        layers: number of transformer blocks.
        hidden: width of the residual stream.
        heads: query heads; queries are ``heads * head_dim`` wide, which may differ from ``hidden``.
        kv_heads: key and value heads; equal to ``heads`` without grouped-query attention.
        head_dim: width of one head.
        ffn: inner width of a dense feed-forward block.
        vocab: rows of the embedding.
        gated: whether the feed-forward block has a third matrix, the gate (SwiGLU).
        tied_embeddings: whether the output head shares the embedding's matrix, which is then counted once.
        source: where the shape is printed.
        positions: rows of a learned position table; 0 for rotary positions.
        biases: whether every matrix and every norm has a bias (GPT-2, GPT-3); if not, norms have only a gain (RMSNorm).
        experts: routed experts in a mixture layer; 0 for a dense model.
        top_k: routed experts that process each token.
        shared_experts: experts that process every token.
        expert_ffn: inner width of one expert.
        moe_layers: how many of ``layers`` are mixture layers; the others are dense.
    """

    name: str
    layers: int
    hidden: int
    heads: int
    kv_heads: int
    head_dim: int
    ffn: int
    vocab: int
    gated: bool = True
    tied_embeddings: bool = False
    source: str = ""
    positions: int = 0
    biases: bool = False
    experts: int = 0
    top_k: int = 0
    shared_experts: int = 0
    expert_ffn: int = 0
    moe_layers: int = 0

    @property
    def parameters(self) -> int:
        """All parameters: embeddings, blocks, final norm and head."""
        embeddings = self.vocab * self.hidden * (1 if self.tied_embeddings else 2) + self.positions * self.hidden
        block = self.attention_parameters + 2 * self._norm
        dense = self.layers - self.moe_layers
        mixture = (self.experts + self.shared_experts) * self._feed_forward(self.expert_ffn) + self.router_parameters
        blocks = self.layers * block + dense * self._feed_forward(self.ffn) + self.moe_layers * mixture
        return embeddings + blocks + self._norm

    @property
    def active_parameters(self) -> int:
        """Parameters that one token uses: all of a dense model, and of a mixture the experts that it visits."""
        idle = self.experts - self.top_k
        return self.parameters - self.moe_layers * idle * self._feed_forward(self.expert_ffn)

    @property
    def attention_parameters(self) -> int:
        """Parameters of one layer's attention: queries, keys, values, output."""
        queries, keys = self.heads * self.head_dim, self.kv_heads * self.head_dim
        return (
            2 * self._matrix(self.hidden, keys)
            + self._matrix(self.hidden, queries)
            + self._matrix(queries, self.hidden)
        )

    @property
    def router_parameters(self) -> int:
        """Parameters of one mixture layer's router; it never has a bias."""
        return self.hidden * self.experts

    @property
    def _norm(self) -> int:
        return self.hidden * (2 if self.biases else 1)

    def _matrix(self, inputs: int, outputs: int) -> int:
        return inputs * outputs + (outputs if self.biases else 0)

    def _feed_forward(self, width: int) -> int:
        up = self._matrix(self.hidden, width)
        return up * (2 if self.gated else 1) + self._matrix(width, self.hidden)


def _llama(name: str, layers: int, hidden: int, heads: int, kv_heads: int, ffn: int, vocab: int, source: str) -> Model:
    """A dense model with heads of width ``hidden / heads``, gated feed-forward blocks and rotary positions."""
    return Model(name, layers, hidden, heads, kv_heads, hidden // heads, ffn, vocab, source=source)


def _gpt(name: str, layers: int, hidden: int, heads: int, positions: int, source: str, head_dim: int = 64) -> Model:
    """A GPT-2 or GPT-3: no grouped queries, ``ffn = 4 * hidden``, learned positions, biases, tied embeddings."""
    return Model(
        name,
        layers,
        hidden,
        heads,
        heads,
        head_dim,
        4 * hidden,
        50_257,
        gated=False,
        tied_embeddings=True,
        source=source,
        positions=positions,
        biases=True,
    )


_GPT2 = "Radford et al. (2019), Language Models are Unsupervised Multitask Learners, table 2, and the released code"
_GPT3 = "Brown et al. (2020), arXiv:2005.14165, table 2.1, and the vocabulary of GPT-2"
_LLAMA2 = "Touvron et al. (2023), arXiv:2307.09288, and the released configuration"
_LLAMA3 = "Llama Team (2024), arXiv:2407.21783, table 3, and the released configuration"
_LLAMA32 = "Meta (2024), Llama 3.2 model card, and the released configuration"

GPT2_SMALL = _gpt("GPT-2 small", 12, 768, 12, 1024, _GPT2)
GPT2_XL = _gpt("GPT-2 XL", 48, 1600, 25, 1024, _GPT2)
GPT3_175B = _gpt("GPT-3 175B", 96, 12_288, 96, 2048, _GPT3, head_dim=128)

LLAMA2_7B = _llama("Llama 2 7B", 32, 4096, 32, 32, 11_008, 32_000, _LLAMA2)
LLAMA2_13B = _llama("Llama 2 13B", 40, 5120, 40, 40, 13_824, 32_000, _LLAMA2)
LLAMA2_70B = _llama("Llama 2 70B", 80, 8192, 64, 8, 28_672, 32_000, _LLAMA2)
LLAMA3_8B = _llama("Llama 3 8B", 32, 4096, 32, 8, 14_336, 128_256, _LLAMA3)
LLAMA3_70B = _llama("Llama 3 70B", 80, 8192, 64, 8, 28_672, 128_256, _LLAMA3)
LLAMA3_405B = _llama("Llama 3.1 405B", 126, 16_384, 128, 8, 53_248, 128_256, _LLAMA3)
LLAMA32_1B = Model("Llama 3.2 1B", 16, 2048, 32, 8, 64, 8192, 128_256, tied_embeddings=True, source=_LLAMA32)

MISTRAL_7B = _llama("Mistral 7B", 32, 4096, 32, 8, 14_336, 32_000, "Jiang et al. (2023), arXiv:2310.06825, table 1")
MIXTRAL_8X7B = Model(
    "Mixtral 8x7B",
    32,
    4096,
    32,
    8,
    128,
    14_336,
    32_000,
    source="Jiang et al. (2024), arXiv:2401.04088, table 1",
    experts=8,
    top_k=2,
    expert_ffn=14_336,
    moe_layers=32,
)

#: Every record, smallest model first.
MODELS = (
    GPT2_SMALL,
    LLAMA32_1B,
    GPT2_XL,
    LLAMA2_7B,
    MISTRAL_7B,
    LLAMA3_8B,
    LLAMA2_13B,
    MIXTRAL_8X7B,
    LLAMA2_70B,
    LLAMA3_70B,
    GPT3_175B,
    LLAMA3_405B,
)
