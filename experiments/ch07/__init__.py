"""Chapter 7: what its page runs and shows."""
