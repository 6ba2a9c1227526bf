"""Price lists: dated prices of GPUs, as the offers of a scenario."""
