"""Chapter 6: what its page runs and shows."""
