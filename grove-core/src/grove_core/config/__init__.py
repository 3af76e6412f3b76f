"""The configuration: declared in ``schema``, read by ``load``."""
