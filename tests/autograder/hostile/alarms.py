"""Interrupts the grader's own code in the child by timer signals."""
# item: call
# earns: 0
# ends: value raised died timeout missing unloadable
# needs: nothing
import signal


def strike(number, frame):
    raise KeyboardInterrupt


def answer(x):
    signal.signal(signal.SIGALRM, strike)
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
    return 6.0
