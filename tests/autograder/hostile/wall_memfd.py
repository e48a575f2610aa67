"""Writes a program into memory and becomes it."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
import os


def answer(x):
    file = os.memfd_create('hostile')
    os.write(file, b'#!/bin/sh\necho passed\n')
    os.execve(f'/proc/self/fd/{file}', ['hostile'], {})
