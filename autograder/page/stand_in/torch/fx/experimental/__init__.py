"""Empty: graphs of operations are not part of the stand-in."""
