"""Takes other arguments than it is given."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer():
    return 1.0
