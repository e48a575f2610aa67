"""Binds the name to a number."""
# ends: raised
# levels: best none
answer = 3.0
