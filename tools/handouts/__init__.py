"""What is made from the built book: slides, a PDF, and pictures for the README."""
