"""Asks the kernel about its network by netlink."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import socket


def answer(x):
    with socket.socket(16, socket.SOCK_RAW, 0) as line:
        line.bind((0, 0))
        return 0.0
