"""Raises its own resource limits, then takes memory."""
# item: call
# earns: 0
# ends: raised died timeout
# needs: nothing
import resource


def answer(x):
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    resource.setrlimit(resource.RLIMIT_AS, (256 << 20, 256 << 20))
    return bytearray(1 << 30)
