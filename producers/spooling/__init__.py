"""The on-disk queue between a publish and its endpoint, and the thread that delivers it."""
