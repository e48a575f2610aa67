"""Section 8.1, One request: its questions."""

from __future__ import annotations

from autograder.items import Choice

QUESTIONS = (
    Choice(
        id="08-where-it-waits",
        kind="trace",
        title="Behind three others",
        section="8.1",
        options=(
            "in the queue, where no part of the server works on it",
            "in the model runner, which computes its prompt and its answer",
            "in the tokenizer, which has to read the text of all four users",
            "in the stream, because the network is slower than the model",
        ),
        correct=0,
        derivation="One request runs at a time, so your request waits for 200 to 300 passes of the others, and then "
        "has 100 passes of its own. At least two thirds of its time is waiting.",
        slips={
            1: "The runner works on it for 100 passes; before that, it works on the others for 200 to 300.",
            2: "Tokenizing a prompt takes far less than one pass of a model.",
            3: "The stream sends each piece while the next pass runs; it does not make the passes longer.",
        },
    ),
)
