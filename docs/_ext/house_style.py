"""The look of pictures in the gallery."""

from bayespoint.displays import use_style


def use(gallery_conf, example):
    """Begin each example with the style of this project."""
    use_style()
