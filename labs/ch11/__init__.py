"""Chapter 11: what a learner writes."""
