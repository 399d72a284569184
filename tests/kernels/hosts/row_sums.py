def row_sums(inp):
    return (inp * inp).sum(1)
