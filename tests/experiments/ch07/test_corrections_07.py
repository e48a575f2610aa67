"""What chapter 7's corrections say of torch."""

from __future__ import annotations

import importlib.util


def test_the_removed_module_is_gone():
    assert importlib.util.find_spec("torch.distributed.pipelining") is not None
    assert importlib.util.find_spec("torch.distributed.pipeline") is None
