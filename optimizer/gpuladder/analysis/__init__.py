"""What a plan means: costs per run, idle, ratios, lock-in, expiries and cash."""
