"""Chapter 14: what its page runs and shows."""
