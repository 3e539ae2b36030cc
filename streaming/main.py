"""Entry point for spark-submit: `spark-submit streaming/main.py --config FILE`."""

import sys

from lineproof.cli.main import main

if __name__ == "__main__":
    main(["job", *sys.argv[1:]])
