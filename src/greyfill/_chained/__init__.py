"""The model-based methods: every column is predicted from the others, again and again.

```
Table ── design ──> one matrix of predictors          numbers scaled, categories as indicators
MICE:       start at random ── [ predictors ── methods.fit ── model.draw ] × columns × passes
MissForest: start mean/mode ── [ growing.grow ── forest.predict ]          until it gets worse
new rows:   the models of the last pass, fixed; noise from the row's own content
```

An elementary method is a function ``fit(x, y, rng)`` that returns a model, and a model has one
method, ``draw(x, noise)``: it uses one uniform number for each cell and nothing else that is
random, so whoever gives the noise decides what is repeatable.
"""
