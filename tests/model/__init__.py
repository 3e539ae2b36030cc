"""What the tables must hold, as a plain fold over the events: the law's other side.

Nothing here is shared with the job but the wire format.
"""
