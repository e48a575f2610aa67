"""Chapter 9: what its page runs and shows."""
