"""The mathematics of gpuladder: the program, given arrays."""
