"""Usage histories: measured series of GPUs, and cloud bills in FOCUS columns."""
