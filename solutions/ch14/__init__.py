"""Chapter 14: the reference."""
