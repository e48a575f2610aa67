"""Asks a name server by a datagram."""
# item: call
# earns: 0
# ends: value raised died
# needs: network
import socket


def answer(x):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as line:
        line.settimeout(0.1)
        line.sendto(b'hostile', ('127.0.0.53', 9))
        return 0.0
