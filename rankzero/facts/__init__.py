"""Published numbers about hardware, models and their training; units; and the table of the book's chapters."""
