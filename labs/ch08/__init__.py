"""Chapter 8: what a learner writes."""
