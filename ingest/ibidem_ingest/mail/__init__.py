"""Mails: the parts of a body, and the fields of a header."""
