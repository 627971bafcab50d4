"""Show NAME_dark.svg instead of NAME.svg on dark pages, where both exist; .png as well."""

from pathlib import Path

from docutils import nodes
from sphinx.transforms.post_transforms import SphinxPostTransform
from sphinx.transforms.post_transforms.images import ImageDownloader


class DarkPictures(SphinxPostTransform):
    """Add the dark twin of each picture that has one."""

    default_priority = ImageDownloader.default_priority - 1
    formats = ("html",)

    def run(self, **kwargs):
        """Put the twins beside their pictures; the theme shows one of them."""
        for node in list(self.document.findall(nodes.image)):
            path = Path(node["uri"])
            twin = path.with_stem(f"{path.stem}_dark")
            if path.suffix in (".svg", ".png") and (Path(self.env.srcdir) / twin).is_file():
                dark = node.deepcopy()
                dark["uri"] = twin.as_posix()
                dark["candidates"] = {"*": dark["uri"]}
                self.env.images.add_file(self.env.docname, dark["uri"])
                node["classes"].append("only-light")
                dark["classes"].append("only-dark")
                node.parent.insert(node.parent.index(node) + 1, dark)


def setup(app):
    """Add the transform."""
    app.add_post_transform(DarkPictures)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
