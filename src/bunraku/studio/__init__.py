"""Takes in a browser: a small server over take folders, and the page it serves."""
