"""Threads of mails: who answers whom, and which mails hold others whole."""
