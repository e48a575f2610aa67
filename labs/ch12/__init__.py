"""Chapter 12: what a learner writes."""
