"""Never returns."""
# ends: timeout
# levels: best none
def answer(x):
    while True:
        pass
