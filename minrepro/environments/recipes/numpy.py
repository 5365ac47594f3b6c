"""NumPy alone: for a version other than minrepro's own."""

from minrepro.environments.recipes import Recipe, Variant


def variants(version):
    """One wheel without dependencies."""
    return (
        Variant(
            ("numpy" + (f"=={version}" if version else ""),), download_bytes=17_000_000, installed_bytes=75_000_000
        ),
    )


RECIPE = Recipe(variants)
