"""Operators, each beside its gradient rule."""
