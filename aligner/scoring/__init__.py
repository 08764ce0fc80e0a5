"""How good links are."""
