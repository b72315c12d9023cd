"""Threads of mails: which mail answers which, and which mails contain others completely."""
