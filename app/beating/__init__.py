"""What a run is told to beat: PyTorch, a library's call, a kernel file, a shared object; read, timed and recorded."""
