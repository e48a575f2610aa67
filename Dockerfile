# A container that grades: the grader with its sandbox, and nothing of a learner. From a checkout of the course:
#
#     docker build --tag rank-zero .
#     docker run --rm rank-zero probe
#     docker run --rm --network none --volume "$PWD":/desk rank-zero grade-class class --out graded --key key.txt
#
# Podman takes the same commands. The folder /desk is yours: the class, the key, what was graded.
FROM python:3.11-slim-bookworm

RUN apt-get update \
    && apt-get install --yes --no-install-recommends bubblewrap \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /opt/rank-zero
COPY pyproject.toml README.md LICENSE LICENSE-TEXT ./
COPY autograder autograder
COPY demos demos
COPY experiments experiments
COPY labs labs
COPY rankzero rankzero
COPY solutions solutions
RUN pip install --no-cache-dir --extra-index-url https://download.pytorch.org/whl/cpu ".[grade,rl,serve]"

WORKDIR /desk
ENTRYPOINT ["python", "-m", "autograder"]
