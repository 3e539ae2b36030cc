"""The settings of lineproof: one frozen object, read from defaults, a file, the environment and the command line."""

from lineproof.settings.interpolation import SettingsError
from lineproof.settings.loader import load
from lineproof.settings.model import Settings

__all__ = ["Settings", "SettingsError", "load"]
