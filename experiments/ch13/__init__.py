"""Chapter 13: what its page runs and shows."""
