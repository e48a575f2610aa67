"""Chapter 2: what a learner writes."""
