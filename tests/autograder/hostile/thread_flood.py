"""Returns, while a thread goes on printing for ever."""
# item: call
# earns: 0
# ends: raised value
# needs: nothing
import threading


def shout():
    while True:
        print("z" * 1000)


def answer(x):
    threading.Thread(target=shout, daemon=True).start()
    return 0.0
