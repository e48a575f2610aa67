"""Returns, while a thread goes on printing for ever."""
# ends: value
# levels: best none
import threading


def shout():
    while True:
        print("z" * 1000)


def answer(x):
    threading.Thread(target=shout, daemon=True).start()
    return 0.0
