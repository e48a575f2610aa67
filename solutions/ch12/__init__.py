"""Chapter 12: the reference."""
