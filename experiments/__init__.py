"""What the pages run and show, by chapter: live runs, explorers and corrections."""
