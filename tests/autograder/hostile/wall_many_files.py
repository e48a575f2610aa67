"""Makes thousands of empty files (bounded here at 3000)."""
# item: call
# earns: 0
# ends: value raised timeout
# needs: nothing
def answer(x):
    for number in range(3000):
        open(f'small-{number}', 'w').close()
    return 0.0
