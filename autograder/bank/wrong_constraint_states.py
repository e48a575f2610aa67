"""Wrong programs for ``ConstraintState``: one mistake in each. Each is an edit of the reference."""
