"""Chapter 1: what a learner writes."""
