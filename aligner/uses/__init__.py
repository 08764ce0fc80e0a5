"""What people need links for."""
