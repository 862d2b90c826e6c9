"""Kernels: arrays in, arrays out.

    reference.py   numpy, slow, readable, one function for each equation: the oracle
    compiled.py    numba twins with the same answers
    search.py      the search for the nearest donors, and its three steps:
    scores.py        scores of whole groups of donors in float32
    candidates.py    the donors that may be among the nearest
    measures.py      exact distances of single pairs in float64
    pool.py        the arrays of one donor pool, laid out for the compiled search
    index.py       the order of donors in which boxes prune well
    jit.py         how kernels are compiled
    sealing.py     files of compiled kernels that are used only as they were written

Every value that enters a kernel is finite, numbers are scaled to [0, 1] and holes are given by
masks. Kernels know nothing of tables, labels or parameters.
"""
