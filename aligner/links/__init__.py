"""Links, and what is done to links alone: formats, symmetrization."""
