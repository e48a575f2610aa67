"""Binds the name to a number."""
# item: call
# earns: 0
# ends: raised
# needs: nothing
answer = 3.0
