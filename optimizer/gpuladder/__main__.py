"""``python -m gpuladder``: the command line without the console script."""

import sys

from gpuladder.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
