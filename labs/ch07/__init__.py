"""Chapter 7: what a learner writes."""
