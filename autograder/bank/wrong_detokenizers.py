"""Wrong programs for ``StreamingDetokenizer``: what people really write. Each is complete in itself."""

# mypy: ignore-errors

from autograder.items import Slip


class DecodesEachToken:
    def __init__(self, vocabulary, stop=()):
        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.held = vocabulary, tuple(stop), ""
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        for character in self.vocabulary[token].decode(errors="replace"):
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                return self.send(len(self.stopped_by), drop=True)
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(max(tails, default=0))

    def send(self, keep, drop=False):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], "" if drop else self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        self.finished = True
        return self.send(0)


class StopsInOneToken:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop = vocabulary, tuple(stop)
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        return self.take(self.decoder.decode(self.vocabulary[token]))

    def take(self, piece):
        for end in range(1, len(piece) + 1):
            done = [one for one in self.stop if piece[:end].endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                piece = piece[: end - len(self.stopped_by)]
                break
        self.text += piece
        return piece

    def finish(self):
        if self.finished:
            return ""
        sent = self.take(self.decoder.decode(b"", final=True))
        self.finished = True
        return sent


class CannotTakeBack:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.seen = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        return self.take(self.decoder.decode(self.vocabulary[token]))

    def take(self, piece):
        sent = ""
        for character in piece:
            self.seen += character
            sent += character
            done = [one for one in self.stop if self.seen.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                sent = sent[: max(0, len(sent) - len(self.stopped_by))]
                break
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        sent = self.take(self.decoder.decode(b"", final=True))
        self.finished = True
        return sent


class KeepsTheStop:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.held = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        self.read(self.decoder.decode(self.vocabulary[token]))
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(0 if self.finished else max(tails, default=0))

    def read(self, piece):
        for character in piece:
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                return

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        self.read(self.decoder.decode(b"", final=True))
        self.finished = True
        return self.send(0)


class FirstInTheText:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.held = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        self.read(self.decoder.decode(self.vocabulary[token]))
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(0 if self.finished else max(tails, default=0))

    def read(self, piece):
        self.held += piece
        found = [(self.held.find(one), -len(one), one) for one in self.stop if one in self.held]
        if found:
            start, _, self.stopped_by = min(found)
            self.held, self.finished = self.held[:start], True

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        self.read(self.decoder.decode(b"", final=True))
        self.finished = True
        return self.send(0)


class HoldsTooMuch:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.held = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        self.read(self.decoder.decode(self.vocabulary[token]))
        longest = max(map(len, self.stop), default=1) - 1
        return self.send(0 if self.finished else min(longest, len(self.held)))

    def read(self, piece):
        for character in piece:
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                self.held = self.held.removesuffix(self.stopped_by)
                return

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        self.read(self.decoder.decode(b"", final=True))
        self.finished = True
        return self.send(0)


class NeverFlushes:
    def __init__(self, vocabulary, stop=()):
        import codecs

        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.held = vocabulary, tuple(stop), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        for character in self.decoder.decode(self.vocabulary[token]):
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                self.held = self.held.removesuffix(self.stopped_by)
                return self.send(0)
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(max(tails, default=0))

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        self.finished = True
        return ""


class WaitsForValidBytes:
    def __init__(self, vocabulary, stop=()):
        if "" in stop:
            raise ValueError("empty stop string")
        self.vocabulary, self.stop, self.data, self.held = vocabulary, tuple(stop), b"", ""
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            raise RuntimeError("finished")
        self.data += self.vocabulary[token]
        try:
            piece, self.data = self.data.decode(), b""
        except UnicodeDecodeError:
            return ""
        self.read(piece)
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(0 if self.finished else max(tails, default=0))

    def read(self, piece):
        for character in piece:
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                self.held = self.held.removesuffix(self.stopped_by)
                return

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        self.read(self.data.decode(errors="replace"))
        self.finished = True
        return self.send(0)


class TakesAnything:
    def __init__(self, vocabulary, stop=()):
        import codecs

        self.vocabulary, self.stop, self.held = vocabulary, tuple(one for one in stop if one), ""
        self.decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self.text, self.finished, self.stopped_by = "", False, None

    def push(self, token):
        if self.finished:
            return ""
        self.read(self.decoder.decode(self.vocabulary[token]))
        tails = [n for one in self.stop for n in range(1, len(one)) if self.held.endswith(one[:n])]
        return self.send(0 if self.finished else max(tails, default=0))

    def read(self, piece):
        for character in piece:
            self.held += character
            done = [one for one in self.stop if self.held.endswith(one)]
            if done:
                self.stopped_by, self.finished = max(done, key=len), True
                self.held = self.held.removesuffix(self.stopped_by)
                return

    def send(self, keep):
        cut = len(self.held) - keep
        sent, self.held = self.held[:cut], self.held[cut:]
        self.text += sent
        return sent

    def finish(self):
        if self.finished:
            return ""
        self.read(self.decoder.decode(b"", final=True))
        self.finished = True
        return self.send(0)


DETOKENIZERS = (
    Slip("A character may be cut between two tokens: decode the bytes as one stream.", DecodesEachToken),
    Slip("A stop string may begin in one token and end in another.", StopsInOneToken),
    Slip("What was sent cannot be taken back: hold back a tail that may begin a stop string.", CannotTakeBack),
    Slip("The text ends before the stop string.", KeepsTheStop),
    Slip("The stop string that is complete first ends the text, not the one that begins first.", FirstInTheText),
    Slip("Only a tail that begins a stop string has to wait; other text goes out at once.", HoldsTooMuch),
    Slip("`finish` sends what was held back, and U+FFFD for half a character.", NeverFlushes),
    Slip("Bytes that can never become a character are U+FFFD at once: what follows must not wait.", WaitsForValidBytes),
    Slip("An empty stop string is a ValueError, a token after the end a RuntimeError.", TakesAnything),
)
