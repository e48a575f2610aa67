"""What notebooks call: ``predict``, ``check`` and ``scorecard``, with their cards and the progress file."""
