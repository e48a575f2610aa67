"""Chapter 7: the reference."""
