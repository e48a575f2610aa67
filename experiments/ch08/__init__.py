"""Chapter 8: what its page runs and shows."""
