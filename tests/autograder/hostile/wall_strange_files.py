"""Leaves pipes, links in circles and files with names that nobody can type."""
# item: call
# earns: 0
# ends: value raised
# needs: nothing
import os


def answer(x):
    os.mkfifo('pipe')
    os.symlink('circle', 'circle')
    os.symlink('/etc', 'outside')
    open(b'-rf \xff\n', 'w').close()
    open('a' * 255, 'w').close()
    os.mkdir('sealed')
    os.chmod('sealed', 0o1000)
    return 0.0
