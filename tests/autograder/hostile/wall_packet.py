"""Listens to everything on the wire."""
# item: call
# earns: 0
# ends: raised died refused
# needs: network
import socket


def answer(x):
    with socket.socket(17, socket.SOCK_RAW, 768) as line:
        line.settimeout(0.05)
        return line.recv(100)
