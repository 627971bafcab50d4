"""Feature space: kernels, Gram matrices and version spaces."""
