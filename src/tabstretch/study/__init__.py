"""Compare transformations under neural networks: data, tuning, training, results.

A study reads data sets, fits each transformation on the training part, tunes and trains each network on
the result, and stores one row per run. The transformers of `tabstretch` know nothing of it and never
import it; what it needs beyond them is installed with `pip install 'tabstretch[study]'`.
"""
