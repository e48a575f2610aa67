"""Never finishes making an object."""
# item: calls
# earns: 0
# ends: timeout
# needs: nothing
class Tally:
    def __init__(self, start=0):
        while True:
            pass
