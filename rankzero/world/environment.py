"""The environment variables that are set in every rank."""

from __future__ import annotations

import socket
from collections.abc import Mapping


def fixed_environment(given: Mapping[str, str]) -> dict[str, str]:
    """One thread per rank, fixed string hashes, Gloo on the loopback interface, and no log lines from libraries.

    Args:
        given: the caller's environment; its choice of ``GLOO_SOCKET_IFNAME`` is kept.
    """
    loopback = next((name for _, name in socket.if_nameindex() if name.startswith("lo")), "lo")
    threads = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")
    return {
        "PYTHONHASHSEED": "0",
        **dict.fromkeys(threads, "1"),
        "GLOO_SOCKET_IFNAME": given.get("GLOO_SOCKET_IFNAME", loopback),
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "TOKENIZERS_PARALLELISM": "false",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # safe on macOS: no Objective-C code runs before the fork
    }
