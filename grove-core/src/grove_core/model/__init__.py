"""The domain model: frozen values and nothing else."""
