"""Stands in for the package that published tools are written against. The parts that exist work with the
rights of the caller. Missing parts are added for the sources that import them (`unoffered.py`), and raise
an error when used.
"""
