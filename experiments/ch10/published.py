"""What others measured, for the functions of chapter 10. Standard library only."""

from __future__ import annotations

from dataclasses import dataclass

from rankzero.facts.units import GB, TB

# A long prompt beside streams

#: Sarathi-Serve: Llama 2 70B on four A100; a pass of one decode, and the same pass with a prompt of 4,096 tokens in it.
SARATHI = "Agrawal et al. (2024), Sarathi-Serve, arXiv:2403.02310"
STALL = 28.3
#: Yi-34B on two A100: how much longer a prompt takes in chunks of so many tokens, at most.
CHUNK_OVERHEAD = {512: 0.25}
#: Section 4.3, "in some cases": how much longer prompts take in chunks of 257 tokens than in chunks of 256.
PAST_A_TILE = 0.32

# Two kinds of GPU


@dataclass(frozen=True)
class Split:
    """Requests a second of one GPU, 90 % of them within both promises: with both kinds of work, and with one."""

    together: float
    prefill: float
    decode: float


DISTSERVE = "Zhong et al. (2024), DistServe, arXiv:2401.09670, figure 1: 13B, A100 80 GB, 512 tokens in, 64 out"
SPLIT = Split(1.6, 5.6, 10.0)

# Launches

#: gpt-fast: Llama 2 7B in bf16 on an A100 80 GB, one stream, tokens a second without a graph ("heavily CPU overhead
#: bound"), and how many times faster torch.compile with a static cache made it, about.
GPT_FAST = "PyTorch blog (2023), Accelerating Generative AI with PyTorch II: GPT, Fast"
EAGER_TOKENS, COMPILED_TIMES = 25.5, 4.0
#: Weights that a token reads, and the bandwidth of that GPU.
GPT_FAST_WEIGHTS, GPT_FAST_BANDWIDTH = 13.5 * GB, 2.039 * TB

# The loop

#: vLLM 0.5.3, Llama 3 8B on one H100: shares of the time; and the throughput of 0.6.0, as a multiple.
VLLM_06 = "vLLM blog (2024-09-05), vLLM v0.6.0: 2.7x Throughput Improvement and 5x Latency Reduction"
HTTP, SCHEDULING, GPU = 0.33, 0.29, 0.38
THROUGHPUT_TIMES = 2.7
