"""Chapter 4: what a learner writes."""
