"""What ``grove init`` puts into a project and its client's settings, and takes back."""
