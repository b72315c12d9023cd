"""Threads of mails and versions of works: found in a whole index, stored with its documents, shown by searches."""
