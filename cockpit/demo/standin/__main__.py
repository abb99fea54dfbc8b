"""`python -m cockpit.demo.standin`: the stand-in, called like `claude`."""

from __future__ import annotations

import sys

from cockpit.demo.standin.program import main

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
