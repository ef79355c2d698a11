"""Podman with a stand-in for AWS's image, where functions run as `sam local invoke` runs them."""
