"""Is asynchronous."""
# item: call
# earns: 0
# ends: refused
# needs: nothing
async def answer(x):
    return 1.0
