"""The exact search for the nearest donors, and its oracle: arrays in, arrays out.

    pool       the arrays of one donor pool, laid out once
    distances  compiled: exact distances and the nearest by them, Δmin and Δmax, the order of donors
    scores     compiled: scores of leaves and bounds of boxes, in float32
    losses     compiled: what donors lose at least, by cells of a byte each
    scan       compiled: boxes, leaves, candidates, and the k nearest of them
    kernels    compiled: the searches by name, and what fills cells from donors
    lists      compiled: the nearest donors by several weightings in one sweep, their votes
    panel      compiled: predictions of many candidates for some rows in one call
    ridge      compiled: regressions on neighbors, and on all donors without what a row lacks
    features   compiled: what regressions read of a cell
    queries    compiled: new rows on the scale of the donors, as of each class, and back
    histogram  compiled: information between columns within classes
    matrices   compiled: matrices in the room that a kernel is given, products and factors
    reference  all of it in numpy, slow and readable, one function for each equation
    jit        how kernels are compiled and their files kept
    modules    a kernel and all that it calls, compiled as one
    lookups    what numba finds out about types, remembered while it compiles

The path of a search: `pool.build_pool` sorts the donors so that near ones stand together and draws
boxes around leaves of 64 and blocks of 1,024 of them. `kernels.nearest_donors` scans them for each
query (`scan.search`): the most promising blocks first, and none that cannot hold one of the k
nearest; where boxes exclude little, coarse cells of a byte each exclude most donors of a grey
distance. Scores in float32 or coarse cells propose candidates, distances in float64 decide, ties go
to the smaller row number: the answer is that of `reference`, bit for bit.

The self-tuning engine compares many weightings on small tables: `lists` sweeps over all donors of a
query once, `panel` predicts by all candidates, and `ridge` solves with LAPACK. Where donors are
many it searches a pool, too.

Every value that enters a kernel is finite, numbers are scaled to [0, 1] and holes are given by
masks. Kernels have nothing to do with tables, labels or parameters. The compiled modules are
imported where they are first needed, to keep ``import greyfill`` light.
"""
