"""Is asynchronous."""
# ends: refused
# levels: best none
async def answer(x):
    return 1.0
