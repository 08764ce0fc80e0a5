"""Parallel text with exact gold links, made up from a seed: the grammar, the words and the writer."""
