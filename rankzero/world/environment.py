"""The environment variables that are set in every rank."""

from __future__ import annotations

import socket
from collections.abc import Mapping


def wrong_interface(given: Mapping[str, str]) -> str:
    """Why Gloo cannot use the network interfaces that the environment names, as a sentence; empty if it can."""
    there = [name for _, name in socket.if_nameindex()]
    named = [name for name in given.get("GLOO_SOCKET_IFNAME", "").split(",") if name]
    absent = [name for name in named if name not in there]
    if not absent:
        return ""
    return (
        f"GLOO_SOCKET_IFNAME in the environment is {', '.join(absent)}, and this machine has only "
        f"{', '.join(there)}: remove the variable"
    )


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
        "GLOO_SOCKET_IFNAME": given.get("GLOO_SOCKET_IFNAME") or loopback,
        "TORCH_CPP_LOG_LEVEL": "ERROR",
        "TOKENIZERS_PARALLELISM": "false",
        "OBJC_DISABLE_INITIALIZE_FORK_SAFETY": "YES",  # safe on macOS: no Objective-C code runs before the fork
    }
