"""Waits on a socket without a file for another submission to call."""
# item: call
# earns: 0
# ends: raised died
# needs: network
import socket


def answer(x):
    server = socket.socket(socket.AF_UNIX)
    server.bind('\0hostile')
    server.listen()
    server.settimeout(0.05)
    return server.accept()
