"""Chapter 4: what its page runs and shows."""
