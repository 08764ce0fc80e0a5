"""A training on many machines: jobs on shards of a text."""
