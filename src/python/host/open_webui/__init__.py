"""
Stands in for the package that published tools are written against: what it has works as there, with the rights of the person
who calls the tool. What it lacks cannot be imported, and the server names it before a tool is stored.
"""
