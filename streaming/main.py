"""Entry point for spark-submit: `spark-submit streaming/main.py --config FILE`."""

import sys
from pathlib import Path

if __name__ == "__main__":
    # Python puts the folder of a script first on its path, where `delta` is streaming/delta and not Delta's package.
    folder = Path(__file__).resolve().parent
    sys.path[:] = [entry for entry in sys.path if Path(entry).resolve() != folder]

    from lineproof.cli.main import main

    main(["job", *sys.argv[1:]])
