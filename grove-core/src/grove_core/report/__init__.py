"""The numbers of ``grove stats`` for people: a dashboard for terminals, and a page for browsers."""
