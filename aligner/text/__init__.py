"""Text: parallel files to ids, what views see of words, and one number a cell."""
