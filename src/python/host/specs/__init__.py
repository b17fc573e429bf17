"""What a tool looks like to its callers: functions, parameters, valves."""
