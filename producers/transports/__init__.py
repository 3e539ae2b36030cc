"""Transports: where events can be sent. One file each; `base.py` has the contract."""
