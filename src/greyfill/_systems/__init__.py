"""The other systems that the paper names: engines with presets in ``greyfill.imputers``.

    layout         mixed columns as features, and back
    deck           donors in adjustment cells: hot deck, cold deck, shell neighbors
    column_models  one model a column in passes: opt.svm, opt.tree, grey fuzzy clusters
    network        a perceptron for the class and all columns
    prototypes     fuzzy k-means and learning vector quantization with holes

Each engine has one record that it leaves behind, which fills new rows by themselves and can be
saved: arrays and tables, never a model of another library. opt.knn is a schedule of the recipe
engine (``_neighbors.descent``).
"""
