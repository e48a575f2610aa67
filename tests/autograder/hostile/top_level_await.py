"""Awaits at its top, as a notebook may."""
# ends: unloadable
# levels: best none
import asyncio

await asyncio.sleep(0)


def answer(x):
    return 1.0
