"""Many questions behind one prefix: which token sees which, and what the decoder says to each."""
