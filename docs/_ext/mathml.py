"""Mathematics as MathML, made at build time: no script, no font and no network."""

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml


def show_inline(translator, node):
    """Write a formula within a sentence."""
    translator.body.append(tex2mathml(node.astext(), as_block=False))
    raise nodes.SkipNode


def show_block(translator, node):
    """Write a formula on a line of its own."""
    translator.body.append(f'<div class="formula">{tex2mathml(node.astext(), as_block=True)}</div>')
    raise nodes.SkipNode


def setup(app):
    """Add the renderer "mathml"."""
    app.add_html_math_renderer("mathml", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
