"""Adapters for coding agents: payload in, answer out."""
