"""Chapter 15: what a learner writes."""
