"""A GPU through its vendor's driver: memory, modules, launches, events. One interface, a symbol table a vendor."""
