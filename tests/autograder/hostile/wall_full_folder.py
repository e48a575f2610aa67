"""Fills its folder with large files (bounded here at 64 MB)."""
# item: call
# earns: 0
# ends: value raised timeout died
# needs: nothing
def answer(x):
    for number in range(4):
        with open(f'large-{number}', 'wb') as file:
            for _ in range(16):
                file.write(bytes(1_000_000))
    return 0.0
