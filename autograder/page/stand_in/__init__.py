"""What stands in for torch in a page: the package ``torch`` here, for whom this folder comes first in ``sys.path``."""
