"""The clients that grove works in, one module or package each."""
