"""How sure a number is: intervals, ranks, comparisons, agreement. May import metrics."""
