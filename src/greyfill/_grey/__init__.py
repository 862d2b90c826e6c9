"""The self-tuning recipe: for each column a panel of grey neighbor fits, chosen by leave-one-out.

features.py makes numbers of columns for a regression, ground.py holds the donors, relevance.py
weighs columns for a target, candidates.py lists the ways to fill, asking.py predicts by any of
them, voting.py does so where levels are very many, outcomes.py tells what is predicted, choosing.py
compares them on left-out cells, engine.py makes passes and serves new rows.
"""
