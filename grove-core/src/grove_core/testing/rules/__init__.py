"""What every plugin must do, as tests: a class for each part of a contract."""
