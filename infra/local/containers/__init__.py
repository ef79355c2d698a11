"""Podman with a substitute for AWS's image, where functions run as `sam local invoke` runs them."""
