"""Human studies: what raters are shown, who rates what, and the desk where answers come in."""
