"""What is believed of words and their places, and what a sentence pair says about it."""
