"""A published model on GPUs with tensor parallelism: what fits, and how fast a step can be. Standard library only.

>>> from rankzero.facts.hardware import H100_SXM
>>> from rankzero.facts.models import LLAMA3_70B
>>> Deployment(LLAMA3_70B, H100_SXM, gpus=8).requests_that_fit(4096, usable=0.9)
324
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rankzero.facts.hardware import Gpu
from rankzero.facts.models import Model
from solutions.ch08.serving import critical_batch_size, pass_time, prefill_time


@dataclass(frozen=True)
class Deployment:
    """One replica: a dense model split over ``gpus`` GPUs that share every matrix; communication is left out.

    Attributes:
        model: its shape.
        gpu: of which kind the GPUs are.
        gpus: how many; at least 1.
        weight_element: bytes of a weight. Products run at the bf16 peak, whatever format stores the weights.
        kv_element: bytes of an element of the KV cache.
    """

    model: Model
    gpu: Gpu
    gpus: int = 1
    weight_element: float = 2
    kv_element: float = 2

    @property
    def weight_bytes(self) -> float:
        """Bytes of all weights."""
        return self.weight_element * self.model.parameters

    @property
    def kv_bytes_per_token(self) -> float:
        """Keys and values of one token in all layers, summed over the GPUs, bytes: beyond one for each head, heads are
        copied."""
        heads = max(self.model.kv_heads, self.gpus)
        return 2 * self.model.layers * heads * self.model.head_dim * self.kv_element

    @property
    def peak(self) -> float:
        """Dense FLOP/s of all GPUs."""
        return self.gpus * self.gpu.peak_bf16

    @property
    def bandwidth(self) -> float:
        """Memory bandwidth of all GPUs, bytes/s."""
        return self.gpus * self.gpu.memory_bandwidth

    def room(self, usable: float = 1.0) -> float:
        """Bytes that the weights leave free in the ``usable`` share of the memory; negative if they do not fit."""
        return usable * self.gpus * self.gpu.memory - self.weight_bytes

    def requests_that_fit(self, context: int, usable: float = 1.0) -> int:
        """Requests whose ``context`` tokens fit beside the weights; 0 if the weights do not fit."""
        return max(0, int(self.room(usable) // (context * self.kv_bytes_per_token)))

    def prefill(self, prompt_tokens: float) -> float:
        """Seconds of one prefill."""
        shape = {"layers": self.model.layers, "hidden": self.model.heads * self.model.head_dim}
        return prefill_time(self.model.parameters, self.weight_bytes, prompt_tokens, self.peak, self.bandwidth, **shape)

    def pass_time(self, tokens: float, contexts: Sequence[float]) -> float:
        """Seconds of a pass of ``tokens`` tokens, whose requests have these many cached tokens."""
        sizes = self.model.parameters, self.weight_bytes, self.kv_bytes_per_token
        return pass_time(tokens, contexts, *sizes, self.peak, self.bandwidth)

    def decode_step(self, contexts: Sequence[float]) -> float:
        """Seconds of a pass in which each of these requests gets one token."""
        return self.pass_time(len(contexts), contexts)

    @property
    def critical_batch(self) -> float:
        """The tokens of a pass at which its matrices multiply as long as the weights are read."""
        return critical_batch_size(self.model.parameters, self.weight_bytes, self.peak, self.bandwidth)
