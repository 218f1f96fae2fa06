"""Skins on soft interiors: what couples them, and the skin in balance."""

from .skin import Skin as Skin
