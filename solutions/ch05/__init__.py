"""Chapter 5: the reference."""
