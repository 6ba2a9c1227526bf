"""Files from elsewhere, read in bounded memory: a row is kept, or dropped for a stated reason."""
