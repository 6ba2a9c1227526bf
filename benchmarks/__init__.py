"""Measurements of time and memory; see README.md."""
