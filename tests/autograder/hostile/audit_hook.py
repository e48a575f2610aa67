"""Sets an audit hook that refuses every open and import from then on."""
# item: call
# earns: 0
# ends: value raised died
# needs: nothing
import sys


def hook(event, arguments):
    if event in ('open', 'import', 'compile', 'exec'):
        raise SystemExit(event)


def answer(x):
    sys.addaudithook(hook)
    return 6.0
