"""Chapter 07: sentences that several exercises share."""

#: The sentence about a program that checks nothing; filled in with what it accepted.
UNCHECKED = "Impossible arguments were accepted: {}."
