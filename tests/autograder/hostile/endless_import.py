"""Never finishes its import."""
# item: call
# earns: 0
# ends: unloadable missing
# needs: nothing
while True:
    pass


def answer(x):
    return 1.0
