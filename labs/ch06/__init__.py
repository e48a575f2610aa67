"""Chapter 6: what a learner writes."""
