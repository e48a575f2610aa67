"""Leaves a file in the folder of shared memory."""
# item: call
# earns: 0
# ends: value raised
# needs: files
def answer(x):
    with open('/dev/shm/hostile-left-memory', 'wb') as file:
        file.write(bytes(1000))
    return 0.0
