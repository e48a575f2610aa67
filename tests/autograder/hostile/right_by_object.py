"""Is an object that can be called."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
class Answer:
    def __call__(self, x):
        if min(x) < 0:
            raise ValueError
        return 1.0 + sum(map(lambda v: v * v, x))


answer = Answer()
