"""The command line, as ``gpuladder`` and as ``python -m gpuladder``."""

from __future__ import annotations

import sys

_INTERRUPTED = 130


def main() -> int:
    """Run the command line and return its exit code.

    Everything else is imported in here, so that an interrupt during the imports ends as quietly as
    one later on.
    """
    try:
        from gpuladder.cli.main import main as run

        return run()
    except KeyboardInterrupt:
        return _INTERRUPTED


if __name__ == "__main__":
    sys.exit(main())
