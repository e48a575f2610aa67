"""Looks for a way out through another root folder."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import os


def answer(x):
    os.mkdir('root')
    os.chroot('root')
    for _ in range(50):
        os.chdir('..')
    os.chroot('.')
    return 0.0
