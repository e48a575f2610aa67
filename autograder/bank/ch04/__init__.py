"""Chapter 4: its questions and exercises; ``items`` lists them in the order of the page."""
