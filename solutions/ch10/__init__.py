"""Chapter 10: the reference."""
