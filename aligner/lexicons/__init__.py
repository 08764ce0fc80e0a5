"""Lexicons: tables of word pairs and their probabilities, counted along links, read and written."""
