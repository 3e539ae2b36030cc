"""The expected rows of every table, computed from the events in plain Python. The law test compares both.

The model shares nothing with the job but the wire format.
"""
