"""Chapter 10: what its page runs and shows."""
