"""Class-aware nearest-neighbor imputation of mixed-type tables before classification."""

__version__ = "0.1.0"
