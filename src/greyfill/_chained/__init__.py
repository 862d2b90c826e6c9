"""The chained engine: every column is predicted from the others, again and again.

    design       what models see: numbers scaled, categories as indicators; predictors of a column;
                 keys of rows, by which neither order nor company of a row matters
    regressions  linear, logistic, multinomial and proportional-odds regression
    draws        the elementary methods of MICE: fitted models that draw
    methods      more of them, their names, and which fits which column
    chain        MICE: chains of draws, new rows, and one table of several draws
    forest       random forests as plain arrays, and how they are grown
    tree_walk    compiled: rows down the trees, and votes
    missforest   MissForest: forests over all columns until the fills stop coming closer
    iari         IARI: forests over the columns before, each column once
    c45          a C4.5 tree for each column with holes: gain ratio, cases in fractions, pruning
    hidden_cells  what to choose, by cells that are known and were hidden

The path through them:

```
MICE:       rows by key ── start at random ── [ fit a column ── draw its holes ] × columns × passes
MissForest: rows by key ── start mean/mode ── [ grow a forest ── predict its holes ] until worse
IARI:       columns by importance ── [ grow a forest on those before ── predict ] × columns
C4.5:       [ grow a tree on all others, holes included ── predict ] × columns
new rows:   the models of the last pass, fixed; noise from the row's own content
```

An elementary method is a function ``fit(x, y, rng)`` that returns a model, and a model has one
method, ``draw(x, noise)``: it uses one uniform number for each cell and nothing else that is
random, so whoever gives the noise decides what is repeatable.
"""
