"""Chapter 3: what a learner writes."""
