"""What the page *Your course* knows of the course; the page itself computes nothing but what its reader did."""
