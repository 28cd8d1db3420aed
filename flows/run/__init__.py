"""One evaluation's rows: the case in work, its questions and answers, keys, catalogue, errors. May
import workers, durable."""
