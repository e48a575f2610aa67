"""Chapter 8: the reference."""
