"""Chapter 13: the reference."""
