"""Files, locks and stores: everything that grove keeps on disk."""
