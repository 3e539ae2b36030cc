"""Every call into API that Delta, Spark and Hadoop do not publish. No other module of the project makes one.

Delta's public API needs several Spark jobs where these calls need none: to find out whether a batch was written, and
which files hold the rows that it changes. An upgrade can break them. So `versions` refuses a version that they were not
tried with, and tests/streaming/delta/test_private_api.py names each method and its parameters.

`lineproof.streaming.delta.transaction` is the contract towards the rest of the project. A second implementation on
public API alone, for other versions of Delta, belongs next to this package.
"""
