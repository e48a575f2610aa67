"""What runs inside the sandbox, beside a learner's code. It imports nothing of the course but itself."""
