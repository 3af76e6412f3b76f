"""Modules of plugins whose import is the fault."""
