"""Host halves of HIP and CUDA files, read for their launch plans. Nothing of them runs."""
