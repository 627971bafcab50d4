"""Upper bounds on the error of a classifier, from the training data alone.

Most are functions of plain numbers; `normalized_margins`, `pac_bayes_certificate`,
`svm_leave_one_out_bound`, `adaptive_margin_certificate`, `adaboost_margin_error`,
`estimate_version_space_bound` and `compare_center` take a fitted classifier. docs/bounds.md
says which bound to use. A bound of 1 says nothing.
"""

from .agreement import CenterComparison, compare_center
from .boosting import adaboost_margin_bound, adaboost_margin_error, boosting_rounds
from .capacity import convex_combination_bound, fat_shattering_dimension, margin_bound, vc_bound
from .center import kappa
from .dimensions import l1_fat_shattering_dimension, vc_dimension_with_margin
from .hyperplane import normalized_margins
from .leave_one_out import leave_one_out_bound, support_vector_bound, svm_leave_one_out_bound
from .lower import vc_lower_bound
from .margin_distribution import (
    adaptive_margin_bound,
    adaptive_margin_certificate,
    margin_distribution_bound,
)
from .pac_bayes import gaussian_bound, invert_binary_kl, pac_bayes_bound, pac_bayes_certificate
from .squared_error import squared_error_bound
from .version_volume import estimate_version_space_bound, version_space_bound

__all__ = [
    "CenterComparison",
    "adaboost_margin_bound",
    "adaboost_margin_error",
    "adaptive_margin_bound",
    "adaptive_margin_certificate",
    "boosting_rounds",
    "compare_center",
    "convex_combination_bound",
    "estimate_version_space_bound",
    "fat_shattering_dimension",
    "gaussian_bound",
    "invert_binary_kl",
    "kappa",
    "l1_fat_shattering_dimension",
    "leave_one_out_bound",
    "margin_bound",
    "margin_distribution_bound",
    "normalized_margins",
    "pac_bayes_bound",
    "pac_bayes_certificate",
    "squared_error_bound",
    "support_vector_bound",
    "svm_leave_one_out_bound",
    "vc_bound",
    "vc_dimension_with_margin",
    "vc_lower_bound",
    "version_space_bound",
]
