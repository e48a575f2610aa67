"""Chapter 1: what its page runs and shows."""
