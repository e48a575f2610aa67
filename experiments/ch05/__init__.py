"""Chapter 5: what its page runs and shows."""
