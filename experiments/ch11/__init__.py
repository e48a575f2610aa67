"""Chapter 11: what its page runs and shows."""
