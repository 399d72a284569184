"""The literature: documents in, hybrid search (BM25 and dense vectors, fused) out. Importing it costs nothing."""
