"""The contracts run on installed plugins: the process behind ``grove plugins check``.

It reads what to check as a JSON object from standard input and writes what it finds to standard
output, a JSON object a line; everything else that is printed goes to standard error.
"""
