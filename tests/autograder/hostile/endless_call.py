"""Never returns."""
# item: call
# earns: 0
# ends: timeout
# needs: nothing
def answer(x):
    while True:
        pass
