"""The scenario: what it may say, how it is read, checked and written."""
