"""One module per table: its columns, the transform that makes its rows, and its write. `registry` lists them."""
