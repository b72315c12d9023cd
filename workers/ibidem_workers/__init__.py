"""Queue between files and the index: Celery tasks that sign and write batches of documents."""
