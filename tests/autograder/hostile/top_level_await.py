"""Awaits at its top, as a notebook may."""
# item: call
# earns: 0
# ends: unloadable
# needs: nothing
import asyncio

await asyncio.sleep(0)


def answer(x):
    return 1.0
