"""`python -m tabstretch`: the same as the `tabstretch` command."""

import sys

from tabstretch.cli import main

if __name__ == "__main__":
    sys.exit(main())
