"""What every memory backend must do, as tests: a class for each part of the contract."""
