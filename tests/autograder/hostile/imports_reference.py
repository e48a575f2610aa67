"""Imports the reference."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    import solutions.ch03.collective_cost

    return solutions.ch03.collective_cost.traffic("all_reduce", 1.0, 8, 0)[0]
