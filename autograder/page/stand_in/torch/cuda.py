"""There is no GPU in a page."""

from .missing import getter

__getattr__ = getter("torch.cuda")


def is_available() -> bool:
    """Whether there is a GPU: no."""
    return False


def is_initialized() -> bool:
    """Whether a GPU is in use: no."""
    return False


def device_count() -> int:
    """How many GPUs there are: none."""
    return 0
