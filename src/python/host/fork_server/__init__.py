"""The parts of the fork server: it starts, watches and ends the processes of tools."""
