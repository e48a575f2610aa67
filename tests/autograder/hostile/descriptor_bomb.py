"""Opens files until there are no descriptors left."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
def answer(x):
    held = []
    while True:
        held.append(open("/dev/null"))
