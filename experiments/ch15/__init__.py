"""Chapter 15: what its page runs and shows."""
