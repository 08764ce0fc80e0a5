"""From belief to links."""
