"""The neighbor engine and its six independent parts.

distance    how far two rows are               Heom, Grey
weighting   how much each column counts        EqualWeights, ClassInformation, PairInformation
donors      which rows may give                AllRows, SameClass, CompleteRows
start       what a hole holds before the loop  GlobalStart, ClassStart
filling     how k donors become one value      PlainFill, WeightedFill
schedule    how often and in which order       Once, Sequential, UntilStable, Direct

recipe      six parts under one name
names       parts by name
choose_k    k by cross-validated classification, or by hiding known cells
linking     the unit of work: a block of incomplete rows and a donor pool
solving     where the passes over numbers lead, as a linear system
engine      the loop for training rows
serving     the same donors for new rows
"""
