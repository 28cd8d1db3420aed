"""Pure metrics: values in, values out, and no value where there is none."""
