"""Learning from labelled sentences: what is known of candidate links, made one score."""
