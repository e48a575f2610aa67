"""What `make test`, `make proof`, `make chapter` and `make quick` run, and how."""
