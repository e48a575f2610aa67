"""Chapter 12: what its page runs and shows."""
