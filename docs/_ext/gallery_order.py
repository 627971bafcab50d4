"""What sphinx-gallery needs to know about examples/: their order and their look."""

SECTIONS = ["version_space", "noise", "probabilities", "abstaining", "practice"]
EXAMPLES = [
    # The idea
    "plot_bayes_point_and_margin.py",
    "plot_billiard.py",
    "plot_text_version_space.py",
    "plot_ep_and_billiard.py",
    # Noisy labels
    "plot_softness.py",
    "plot_label_noise.py",
    "plot_wrong_labels.py",
    "plot_adaptive_margins.py",
    "plot_onion.py",
    # Probabilities and kernels
    "plot_calibration.py",
    "plot_kernel_by_evidence.py",
    # Knowing when not to answer
    "plot_rejection_curves.py",
    "plot_promise.py",
    "plot_watch_promise.py",
    "plot_novelty.py",
    # In practice
    "plot_table.py",
    "plot_hardest_digits.py",
    "plot_explain.py",
    "plot_few_labels.py",
    "plot_drift.py",
    "plot_dask.py",
    "plot_compact.py",
]


class InOrder:
    """Sort the examples of a section by EXAMPLES."""

    def __init__(self, src_dir):
        """Take what sphinx-gallery passes."""

    def __call__(self, file):
        return EXAMPLES.index(file)


def apply_style(gallery_conf, file):
    """Draw each example in the style of the project."""
    from bayespoint.displays import use_style

    use_style()
