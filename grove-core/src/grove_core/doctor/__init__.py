"""The checks of ``grove doctor``: one function each, which reads and changes nothing.

``examination`` lists them in the order in which they are told.
"""
