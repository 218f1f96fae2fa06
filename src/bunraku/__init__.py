"""bunraku: direct physics."""
