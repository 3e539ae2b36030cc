"""`python -m lineproof`."""

from lineproof.cli import main

main()
