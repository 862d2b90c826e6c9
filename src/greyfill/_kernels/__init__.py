"""Kernels: arrays in, arrays out.

    reference.py   numpy, slow, readable, one function for each equation: the oracle
    compiled.py    numba twins with the same names and the same answers
    pool.py        the arrays of one donor pool, laid out for the compiled search
    index.py       the order of donors in which boxes prune well
    jit.py         how kernels are compiled

Every value that enters a kernel is finite, numbers are scaled to [0, 1] and holes are given by
masks. Kernels know nothing of tables, labels or parameters.
"""
