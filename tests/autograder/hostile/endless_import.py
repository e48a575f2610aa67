"""Never finishes its import."""
# ends: unloadable missing
# levels: best none
while True:
    pass


def answer(x):
    return 1.0
