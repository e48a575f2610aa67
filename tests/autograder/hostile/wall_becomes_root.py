"""Asks to be another user."""
# item: call
# earns: 0
# ends: raised value died
# needs: nothing
import os


def answer(x):
    before = os.getresuid()
    for user in (0, 1000, 1, 65534):
        try:
            os.setresuid(user, user, user)
            os.setgroups([0])
        except OSError:
            pass
    if os.getresuid() == before:
        raise PermissionError('still the same')
    return 0.0
