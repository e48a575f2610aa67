"""Is a lambda."""
# item: call
# earns: 4
# ends: value raised
# needs: nothing
total = lambda values: sum(value * value for value in values) + 1.0
answer = lambda x: total(x) if min(x) >= 0 else int('negative')
