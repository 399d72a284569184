"""C++ as far as kernels need it: expressions, statements, index polynomials. What is not understood is refused."""
