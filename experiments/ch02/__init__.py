"""Chapter 2: what its page runs and shows."""
