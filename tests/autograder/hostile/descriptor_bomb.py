"""Opens files until there are no descriptors left."""
# ends: raised
# levels: best none
def answer(x):
    held = []
    while True:
        held.append(open("/dev/null"))
