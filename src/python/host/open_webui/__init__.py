"""
Stands in for the package that published tools are written against: what it has works as there, with the rights of the person
who calls the tool. What it lacks is put in for the sources that import it (`unoffered.py`), and says so when it is used.
"""
