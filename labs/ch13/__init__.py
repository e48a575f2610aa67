"""Chapter 13: what a learner writes."""
