"""Looks for a network beyond its own loopback."""
# item: call
# earns: 0
# ends: raised
# needs: network
import socket


def answer(x):
    others = [name for _, name in socket.if_nameindex() if name != "lo"]
    if not others:
        raise OSError("no network")
    return others
