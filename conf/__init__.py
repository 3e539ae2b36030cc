"""Packaged configuration: the JAR list, logging, and a commented settings file."""
