"""The joint engine: one normal distribution for all columns.

    joint_normal θ = (μ, Σ), rows by their patterns of holes, EM, and a lasso for each pattern
    joint_model  what it sees: numbers with mean 0 and deviation 1, categories as indicators; and
                 the way back, by the likeliest level or by a draw; θ by the bootstrap (EMB) or a
                 posterior (NORM), and draws of the holes given θ

The path through them:

```
EM:          code ── start μ = 0, Σ = 1 ── [ expect holes ── maximize θ ] until θ is stable
EMB:         [ bootstrap rows ── EM ── draw holes of the rows as they came ] × imputations
NORM:        EM ── [ draw holes given θ ── draw θ given the filled table ] × passes, × imputations
MissPALasso: code ── [ for each pattern: lasso on the moments of the others ── expect holes ]
new rows:    the θ of ``fit``, fixed; noise from the row's own content
```

A table of more than `MOST_TOGETHER` design columns is cut into blocks of neighboring columns, each
with a distribution of its own: memory grows with the columns and not with their square.
"""
