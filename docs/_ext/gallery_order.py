"""What sphinx-gallery needs to know about examples/: their order."""

SECTIONS = ["version_space", "probabilities", "abstaining", "noise", "practice"]
EXAMPLES = [
    # The idea
    "plot_bayes_point_and_margin.py",
    "plot_billiard.py",
    "plot_text_version_space.py",
    "plot_ep_and_billiard.py",
    # Probabilities and kernels
    "plot_calibration.py",
    "plot_kernel_by_evidence.py",
    # Knowing when not to answer
    "plot_rejection_curves.py",
    "plot_promise.py",
    "plot_watch_promise.py",
    "plot_novelty.py",
    # Noisy labels
    "plot_softness.py",
    "plot_label_noise.py",
    "plot_wrong_labels.py",
    "plot_adaptive_margins.py",
    "plot_onion.py",
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
