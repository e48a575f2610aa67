"""Chapter 1: the reference."""
