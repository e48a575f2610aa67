"""Chapter 10: what a learner writes."""
