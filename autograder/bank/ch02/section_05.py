"""Section 2.5, Non-blocking calls: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="02-overwrite",
        kind="trace",
        title="A buffer that is changed before the wait",
        section="2.5",
        options=(
            "zeros: the bytes are read later",
            "ones: `isend` has copied them",
            "ones: the buffer is locked until the wait",
            "an error: the buffer was changed too early",
        ),
        correct=0,
        derivation="Gloo's `isend` notes where the buffer is, and returns. Gloo reads the bytes when the receiver is "
        "ready, and by then they are zeros. Had the receiver been ready sooner, ones would have been sent, or some of "
        "each: until `wait()` the buffer belongs to the transport.",
        slips={
            1: "Gloo does not copy the tensor: it notes where the tensor is, and reads it later.",
            2: "Nothing is locked. The memory is yours to write to, and the transport cannot know that you did.",
            3: "Nobody checks. The transport sends whatever the buffer holds at the moment it reads it.",
        },
    ),
    Choice(
        id="02-measure",
        kind="design",
        title="A post and its wait, back to back",
        section="2.5",
        options=(
            "they take the same time, apart from noise",
            "they take half the time: send and receive overlap",
            "they are faster: `isend` waits for nobody",
            "they are slower: each call needs a handle",
        ),
        correct=0,
        derivation="A blocking call is a post and a wait. With the wait right behind the post, both programs do the "
        "same and take the same time. What non-blocking calls give you is the room in between, for a product or "
        "another message.",
        slips={
            1: "There is one message, and it goes one way. Nothing else is there for it to overlap with.",
            2: "`isend` returns at once, but the `wait` right after it does all the waiting that `send` does.",
            3: "PyTorch's blocking calls make a handle, too. What matters is whether anything happens before the wait.",
        },
    ),
)
