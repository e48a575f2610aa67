"""Empty, but here: a grader's child imports this module of torch before a first backward pass, to save time."""
