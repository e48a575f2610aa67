"""Takes other arguments than it is given."""
# ends: raised
# levels: best none
def answer():
    return 1.0
