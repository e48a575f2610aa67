"""Wrong programs for ``ConstraintState``: one mistake in each. Each is complete in itself."""

# mypy: ignore-errors


class EosEverywhere:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted([*fits, self.eos])

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class EosNever:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class OneTooMany:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class StaysFinished:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class ForcedPastTheEnd:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class ForcedMoves:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        for token in tokens:
            self.advance(token)
        return tokens


class ForcedOne:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens = self.allowed()
        return tokens if len(tokens) == 1 and tokens != [self.eos] else []


class CountsEos:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]] + 1

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class TakesAnything:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]].get(token, self.path[-1]))

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class GoesOnAfterEos:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        ends = token == self.eos and self.path[-1] in self.accepting
        if not ends and token not in self.index[self.path[-1]]:
            raise ValueError("token must be allowed")
        self.finished = ends
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class ForgetsEosInHistory:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        if not self.finished:
            self.path.append(self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class Unsorted:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] <= remaining - 1]
        return fits + [self.eos] if self.path[-1] in self.accepting else fits

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens


class NearestAlone:
    def __init__(self, index, start, accepting, eos):
        if start not in index:
            raise ValueError("start must be a state")
        self.index, self.accepting, self.eos = index, set(accepting), eos
        self.away = {state: 0 if state in self.accepting else float("inf") for state in index}
        for _ in index:
            for state, row in index.items():
                self.away[state] = min([self.away[state], *(1 + self.away[after] for after in row.values())])
        self.path, self.finished = [start], False

    def allowed(self, remaining=None):
        if remaining is not None and remaining < 0:
            raise ValueError("remaining must not be negative")
        if self.finished:
            return []
        row = self.index[self.path[-1]]
        fits = [t for t, after in row.items() if remaining is None or self.away[after] < self.away[self.path[-1]]]
        return sorted(fits + [self.eos] if self.path[-1] in self.accepting else fits)

    def distance(self):
        return 0 if self.finished else self.away[self.path[-1]]

    def advance(self, token):
        if self.finished:
            raise RuntimeError("the text has ended")
        if token not in self.allowed():
            raise ValueError("token must be allowed")
        self.finished = token == self.eos
        self.path.append(self.path[-1] if self.finished else self.index[self.path[-1]][token])

    def rollback(self, count):
        if not 0 <= count < len(self.path):
            raise ValueError("count must not be more than was taken")
        if count:
            del self.path[-count:]
            self.finished = False

    def forced(self):
        tokens, state = [], self.path[-1]
        while not self.finished and len(self.index[state]) == 1 and state not in self.accepting and len(tokens) < 1000:
            ((token, state),) = self.index[state].items()
            tokens.append(token)
        return tokens
