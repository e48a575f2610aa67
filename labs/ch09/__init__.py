"""Chapter 9: what a learner writes."""
