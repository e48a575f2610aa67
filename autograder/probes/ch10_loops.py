"""Drivers of chapter 10: a device that works on its own clock. Standard library only.

Everything that is counted here is counted in the child. A lie takes more code than the loop that makes it true.
"""


class Device:
    """A CPU's clock, and the moment at which the device will have done all that it was given."""

    def __init__(self):
        self.now = self.free = 0.0

    def launched(self, launch, kernels):
        """The CPU spends ``launch`` seconds; the device then works for ``kernels`` seconds more."""
        self.now += launch
        self.free = max(self.free, self.now) + kernels

    def wait(self):
        """Until the device has nothing left to do."""
        self.now = max(self.now, self.free)


def measured(program, launches, kernels, warmups, repeats, left):
    """The work is called on a device whose calls take the given seconds, the last of them again and again.

    The device has ``left`` seconds of other work when the program begins; a read of the clock takes a little time.
    """
    device, calls = Device(), [0]
    device.free = left

    def work():
        place = min(calls[0], len(launches) - 1)
        calls[0] += 1
        device.launched(launches[place], kernels[place])

    def clock():
        device.now += 1e-9
        return device.now

    seconds = program(work, device.wait, clock, warmups, repeats)
    return {"seconds": seconds, "calls of work": calls[0]}


def looped(program, steps, ended):
    """The engine has ``steps`` steps to do, or fewer if processing step ``ended`` shows that all requests are over."""
    log, state = [], {"launched": 0, "over": False}

    def more():
        return not state["over"] and state["launched"] < steps

    def launch():
        step = state["launched"]
        state["launched"] += 1
        log.append(f"launch {step}")
        return f"results of {step}"

    def process(results):
        log.append(f"process {str(results)[:40]}")
        if results == f"results of {ended}":
            state["over"] = True

    return {"value": program(more, launch, process), "calls in order": log}
