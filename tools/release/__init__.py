"""What a release hands out, and the check that it works where nothing else of the course is."""
