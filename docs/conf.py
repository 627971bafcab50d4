"""Settings of the site: `python -m sphinx docs site` builds it without a network."""

import sys
from pathlib import Path

import bayespoint

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "docs" / "_ext"))
import gallery_order  # noqa: E402

project = "bayespoint"
author = "The bayespoint developers"
version = release = bayespoint.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_gallery.gen_gallery",
    "myst_parser",
    "sphinx_copybutton",
    "sphinx_design",
    "dark_pictures",
    "docstrings",
    "mathml",
    "root_pages",
]
exclude_patterns = ["_ext", "_static", "_templates"]
templates_path = ["_templates"]
default_role = "code"  # `name` in a docstring, as in Markdown

# Reference: one page for each public name.
autosummary_generate = True
toc_object_entries_show_parents = "hide"  # fit() instead of BayesPointClassifier.fit()
autodoc_typehints = "none"  # the parameters are described in words
numpydoc_show_class_members = False  # the template of classes lists them

# Markdown
myst_enable_extensions = ["colon_fence", "deflist", "dollarmath", "attrs_inline"]
myst_heading_anchors = 4

# Pages
html_theme = "pydata_sphinx_theme"
html_title = "bayespoint"
html_static_path = ["_static"]
# Pages without others beside them need no list of pages.
html_sidebars = {name: [] for name in ("index", "start", "papers", "benchmarks", "contributing")}
html_css_files = ["site.css"]
html_favicon = "_static/logo.svg"
html_math_renderer = "mathml"
html_context = {"default_mode": "auto"}  # light or dark, as the system says
html_copy_source = False
html_show_sourcelink = False
html_show_search_summary = False  # reads other pages, which browsers forbid to files
html_theme_options = {
    "logo": {
        "image_light": "_static/logo.svg",
        "image_dark": "_static/logo.svg",
        "text": "bayespoint",
    },
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "show_toc_level": 2,
    "header_links_before_dropdown": 8,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
    "secondary_sidebar_items": ["page-toc"],
    "search_as_you_type": True,
    "show_version_warning_banner": False,
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

# Examples
sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": "/plot_",
    "parallel": True,  # with `-j 2`
    "min_reported_time": 0,
    "thumbnail_size": (640, 400),
    "download_all_examples": False,
    "show_memory": False,
    "write_computation_times": False,  # its page loads scripts from outside
    "show_signature": False,
    "capture_repr": ("_repr_html_",),  # not what a cell's last call of matplotlib returns
    "remove_config_comments": True,
    "doc_module": ("bayespoint",),
    "backreferences_dir": "gallery/backreferences",
    "reset_modules": ("matplotlib", "house_style.use"),
    "reset_modules_order": "before",
    "subsection_order": [f"../examples/{name}" for name in gallery_order.SECTIONS],
    "within_subsection_order": "gallery_order.InOrder",
}
