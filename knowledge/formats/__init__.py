"""Text out of the bytes of each format of documents: the readers, which know nothing of the store."""
