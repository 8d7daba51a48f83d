"""The site's configuration. `make docs` builds it into build/docs; nothing is asked of the network."""

import sys
from importlib.metadata import version as _version
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_ext"))

project = "tabstretch"
author = "The tabstretch developers"
copyright = author
release = version = _version("tabstretch")
language = "en"

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "numpydoc",
    "sphinx_copybutton",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "api_pages",
    "api_links",
    "mathml",
]
exclude_patterns = [
    "_ext",
    "_static",
    "data",
    "auto_examples/*.ipynb",
    "auto_examples/*.py",
    "**.json",
    "**sg_execution_times*",
]
templates_path: list[str] = []
pygments_style = "friendly"

# Single backticks in docstrings are code; those that name something of ours become links.
default_role = "py:obj"
nitpicky = True
nitpick_ignore_regex = [
    # Code in docstrings that is no name of ours: parameters, values, other libraries.
    ("py:obj", r".*"),
    # The bases of classes are private or scikit-learn's.
    ("py:class", r"(tabstretch\._|sklearn\.|torch\.).*"),
]

# Markdown
myst_enable_extensions = ["attrs_block", "colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3
myst_links_external_new_tab = False

# Docstrings
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_member_order = "bysource"
toc_object_entries_show_parents = "hide"
numpydoc_show_class_members = False  # api_pages lists them
numpydoc_class_members_toctree = False
html_math_renderer = "mathml"

# Gallery
sphinx_gallery_conf = {
    "examples_dirs": ["../examples"],
    "gallery_dirs": ["auto_examples"],
    "filename_pattern": r"/plot_",  # all are executed
    "ignore_pattern": r"__init__\.py",
    "within_subsection_order": "FileNameSortKey",
    "backreferences_dir": "auto_examples/backreferences",
    "doc_module": ("tabstretch",),
    "reference_url": {"tabstretch": None},
    "plot_gallery": "True",
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "remove_config_comments": True,
    "write_computation_times": False,  # its page would load scripts from the network
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "matplotlib_animations": False,
    "image_scrapers": ("matplotlib",),
    "thumbnail_size": (420, 280),
}

# The site
html_title = "tabstretch"
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_logo = "_static/logo.svg"
html_favicon = "_static/logo.svg"
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "tabstretch"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "navigation_with_keys": False,
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "friendly",
    "pygments_dark_style": "github-dark",
}
# Pages without pages below them have nothing to show on the left.
html_sidebars = {
    name: []
    for name in (
        "index",
        "start",
        "suggest",
        "coming_from",
        "study",
        "evidence",
        "evidence_tables",
        "trust",
        "speed",
        "changelog",
        "search",
    )
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True
