"""Hands its reply pipe to a process that lives on."""
# item: call
# earns: 0
# ends: value raised died timeout
# needs: nothing
import array
import os
import socket
import time


def answer(x):
    here, there = socket.socketpair()
    if os.fork() == 0:
        os.setsid()
        there.recvmsg(1, 1000)
        while True:
            time.sleep(1)
    here.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', range(32, 36)))])
    return 0.0
