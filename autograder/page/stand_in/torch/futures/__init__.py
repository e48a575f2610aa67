"""Results that are there already, or will be when they are set."""

from ..missing import getter, missing

__getattr__ = getter("torch.futures")


class Future:
    """A result. Nothing runs beside the rank's own code, so waiting for one that is not set would take forever."""

    def __init__(self, *, devices=None):
        self._done, self._result, self._callbacks = False, None, []

    def done(self):
        return self._done

    def set_result(self, result):
        if self._done:
            raise RuntimeError("Future can only be set once")
        self._done, self._result = True, result
        for callback in self._callbacks:
            callback(self)

    def wait(self):
        if not self._done:
            raise missing("Waiting for a future that has no result yet")
        return self._result

    value = wait

    def add_done_callback(self, callback):
        if self._done:
            callback(self)
        else:
            self._callbacks.append(callback)

    def then(self, callback):
        following = Future()
        self.add_done_callback(lambda future: following.set_result(callback(future)))
        return following
