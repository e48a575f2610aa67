"""Chapter 5: what a learner writes."""
