"""The recipe engine: donors are searched by a recipe of six independent parts.

The parts, each a small module of its own:

    distance    how far two rows are               Heom, Grey
    weighting   how much each column counts        EqualWeights, ClassInformation, PairInformation
    donors      which rows may give                AllRows, SameClass, CompleteRows
    start       what a hole holds before the loop  GlobalStart, ClassStart
    filling     how k donors become one value      PlainFill, WeightedFill
    schedule    how often and in which order       Once, Sequential, UntilStable, Direct, Descent

What makes a method of them:

    recipe       six parts under one name, and what the use of labels makes of them
    engine       the straight line for training rows: scale → start → weights → k → passes
    k_selection  k by cross-validated classification, or by hidden cells
    links        the unit of work: a block of incomplete rows and a donor pool → donors of each
                 hole; how much they disagree, and how blocks are shared out among threads
    new_rows     what a fitted method keeps, and the same donors for new rows, without labels
    descent      the steps of opt.knn, for the schedule of that name
    provenance   the donors of one training cell

`engine.run_recipe` calls the parts in this order. A pass of the schedule gets its donors from
`links` (once, or in every pass where fills count as values), which lays out pools and calls the
exact search of ``greyfill._search``; the filling weighs the donors, and a kernel writes the fills.
"""
