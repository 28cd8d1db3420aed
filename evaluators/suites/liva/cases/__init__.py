"""Cases of L-IVA: pictures with sidecars, read, checked, drawn and drafted."""
