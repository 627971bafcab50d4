"""Upper bounds on the error of a classifier, from the training data alone.

Most are functions of plain numbers; `normalized_margins`, `pac_bayes_certificate`,
`svm_leave_one_out_bound`, `adaptive_margin_certificate`, `adaboost_margin_error` and
`estimate_version_space_bound` take a fitted classifier. docs/bounds.md says which bound to use.
A bound of 1 says nothing.
"""

from .boosting import adaboost_margin_bound, adaboost_margin_error, boosting_rounds
from .capacity import convex_combination_bound, fat_shattering_dimension, margin_bound, vc_bound
from .center import kappa
from .hyperplane import normalized_margins
from .leave_one_out import leave_one_out_bound, support_vector_bound, svm_leave_one_out_bound
from .margin_distribution import (
    adaptive_margin_bound,
    adaptive_margin_certificate,
    margin_distribution_bound,
)
from .pac_bayes import gaussian_bound, invert_binary_kl, pac_bayes_bound, pac_bayes_certificate
from .version_volume import estimate_version_space_bound, version_space_bound

__all__ = [
    "adaboost_margin_bound",
    "adaboost_margin_error",
    "adaptive_margin_bound",
    "adaptive_margin_certificate",
    "boosting_rounds",
    "convex_combination_bound",
    "estimate_version_space_bound",
    "fat_shattering_dimension",
    "gaussian_bound",
    "invert_binary_kl",
    "kappa",
    "leave_one_out_bound",
    "margin_bound",
    "margin_distribution_bound",
    "normalized_margins",
    "pac_bayes_bound",
    "pac_bayes_certificate",
    "support_vector_bound",
    "svm_leave_one_out_bound",
    "vc_bound",
    "version_space_bound",
]
