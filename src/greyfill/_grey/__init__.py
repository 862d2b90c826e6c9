"""The engine of GreyImputer, GreyClassifier, GreyRegressor: each column tunes its predictor.

Terms. The *donor table* holds the training rows, scaled to [0, 1], filled, with the class or a
continuous y as a last column. A *target* is a column to predict, its *predictors* are the columns
that it is predicted from, a *query* is a row whose target is to be predicted. A *candidate* is one
way to predict (weights of columns, scope of donors, k, kernel, ridge penalty), a *panel* the few
candidates of a target whose predictions are averaged. *Outcomes* are what a prediction consists of:
a number, or one indicator for each level (`outcomes`).

The path of ``fit`` and what follows it:

1. `donor_table`: scaled rows with start values, and the features that regressions read.
2. `relevance`: weights of the predictors of a target, information above a permutation null.
3. `candidates`, `donor_fits`, `predictor`: all ways to predict a target, arranged as tables, so
   that one call of a kernel predicts with all of them; `ColumnPredictor` makes what it reads.
4. `selection`: candidates predict held-out observed cells, all of them the first cells and those
   that are not clearly worse the others; the best of each family form the panel. In a model of the
   class it is mixed with a `discriminant` where held-out labels say so.
5. `passes`: over the columns with holes, fewest first; each pass rewrites the fills in the donor
   table. A plain pass, one by early panels, then the panels chosen on what these filled.
6. `grey_engine.fit_imputer`: the passes, then panels of the class and of the columns without holes:
   `FittedGrey` is complete, and nothing after ``fit`` changes it.
7. `grey_engine.fill_new_rows`, `predict`, `posterior`: new rows, mixed over the classes.
8. `cross_fit`: training rows by the same rule, so that no row sees its own y.
9. `calibration`, `uncertainty`: residuals of held-out rows, by class or level and in units of a
   local spread, give intervals, and with a bootstrap draws.
10. `contributions`: the share of each donor and the effect of each predictor in a filled cell.

Records are frozen, but for `DonorTable`, which the passes write and then close. Private dicts
(``_made``, ``_features`` …) memoize what follows from the fields; pickles and files lack them.
The compiled loops are those of `greyfill._search`: `lists`, `panel`, `ridge`, `features`,
`histogram`, and the pool where donors are many.
"""
