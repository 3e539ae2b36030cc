"""The queue between a publish and its endpoint, on disk, and the thread that empties it."""
