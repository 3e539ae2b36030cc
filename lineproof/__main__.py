"""`python -m lineproof`."""

from lineproof.cli.main import main

main()
