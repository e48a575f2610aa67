"""A small but complete language model: it trains in seconds on one core, and every part of the course can run it."""

from rankzero.tiny.layers import GPTConfig
from rankzero.tiny.model import GPT, KVCache, Part, loss, one_thread, train
from rankzero.tiny.text import BpeTokenizer, ByteTokenizer, batches, bundled_text

__all__ = [
    "GPT",
    "BpeTokenizer",
    "ByteTokenizer",
    "GPTConfig",
    "KVCache",
    "Part",
    "batches",
    "bundled_text",
    "loss",
    "one_thread",
    "train",
]
