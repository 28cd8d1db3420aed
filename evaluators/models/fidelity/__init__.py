"""Networks that say how like two films are, from folders of weights that an operator gives."""
