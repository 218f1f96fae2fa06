# SPDX-License-Identifier: GPL-3.0-or-later
"""What cannot be done, in a sentence for the artist."""


class Refusal(Exception):
    """Bad input: what, where, and what to do instead."""
