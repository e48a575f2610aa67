"""Chapter 3: what its page runs and shows."""
