"""Puts its own dataclasses module in place of the library's."""
# item: call
# earns: 0
# ends: died raised refused value
# needs: nothing
import sys
import types

fake = types.ModuleType('dataclasses')
fake.is_dataclass = lambda kind: True
fake.fields = lambda thing: [types.SimpleNamespace(name=str(n)) for n in range(1000)]
sys.modules['dataclasses'] = fake


class Thing:
    def __getattr__(self, name):
        return 6.0


def answer(x):
    return Thing()
