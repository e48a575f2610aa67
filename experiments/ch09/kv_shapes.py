"""What published models cache for each token, and what they would cache with other heads. Standard library only.

>>> SHAPES["Llama 3 70B"].bytes_per_token()
327680.0
"""

from __future__ import annotations

from dataclasses import dataclass

from rankzero import checks
from rankzero.facts import models
from rankzero.facts.models import Model
from solutions.ch07.experts import moe_parameters
from solutions.ch09.kv_cache import kv_bytes_per_token, mla_bytes_per_token

#: Ways to keep keys and values: as the model does, or with this many key-value heads; None means a latent.
PUBLISHED = "as published"
HEADS: dict[str, int | None] = {"one for each query head": 0, "4": 4, "1": 1, "latent of 512 + 64": None}
WAYS = (PUBLISHED, *HEADS)

#: Elements of the latent and of the rotary key beside it.
LATENT = (512, 64)


@dataclass(frozen=True)
class Shape:
    """What the size of a cache depends on.

    Attributes:
        name: of the model.
        layers: transformer blocks.
        heads: query heads.
        kv_heads: key and value heads; None for a latent that all heads read.
        head_dim: elements of one head.
        parameters: of the model.
    """

    name: str
    layers: int
    heads: int
    kv_heads: int | None
    head_dim: int
    parameters: int

    def bytes_per_token(self, way: str = PUBLISHED, element_bytes: float = 2.0, ranks: int = 1) -> float:
        """Bytes that one of ``ranks`` tensor-parallel ranks keeps for each token.

        Raises:
            ValueError: ``way`` is not in ``WAYS``, or the heads cannot be divided among the ranks.
        """
        if way not in WAYS:
            raise ValueError(f"way must be one of {', '.join(WAYS)}, got {way!r}")
        checks.require(self.heads % ranks == 0, f"be divisible by ranks = {ranks}", heads=self.heads)
        kept = self.kv_heads if way == PUBLISHED else HEADS[way]
        if kept is None:
            return mla_bytes_per_token(self.layers, *LATENT, element_bytes)
        return kv_bytes_per_token(self.layers, kept or self.heads, self.head_dim, element_bytes, ranks)

    @property
    def kind(self) -> str:
        """How its heads share keys and values: MHA, GQA, MQA or MLA."""
        if self.kv_heads is None:
            return "MLA"
        return {self.heads: "MHA", 1: "MQA"}.get(self.kv_heads, f"GQA-{self.kv_heads}")


def shape_of(model: Model) -> Shape:
    """The shape of a published model."""
    return Shape(model.name, model.layers, model.heads, model.kv_heads, model.head_dim, model.parameters)


#: DeepSeek-AI (2024), arXiv:2412.19437, section 4.2: 61 layers, 128 heads of 128, a latent of 512 and 64 rotary
#: elements; 256 routed experts and a shared one in 58 layers.
DEEPSEEK_V3 = Shape("DeepSeek-V3", 61, 128, None, 128, moe_parameters(7168, 2048, 256, 8, 58, 14_563_317_248, 1)[0])

#: By name, smallest cache of a token first.
SHAPES = {
    shape.name: shape
    for shape in sorted(
        (
            DEEPSEEK_V3,
            *map(
                shape_of,
                (
                    models.GPT2_SMALL,
                    models.LLAMA2_7B,
                    models.LLAMA2_13B,
                    models.LLAMA2_70B,
                    models.LLAMA3_8B,
                    models.LLAMA3_70B,
                    models.LLAMA3_405B,
                    models.MIXTRAL_8X7B,
                    models.GPT3_175B,
                ),
            ),
        ),
        key=Shape.bytes_per_token,
    )
}
