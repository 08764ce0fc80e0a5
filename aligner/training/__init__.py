"""How belief is learned."""
