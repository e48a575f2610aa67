"""Chapter 07: sentences that several exercises share."""

#: For a program that checks nothing; filled in with what it let pass.
UNCHECKED = "Impossible arguments were accepted: {}."
