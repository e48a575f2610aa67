"""Chapter 14: what a learner writes."""
