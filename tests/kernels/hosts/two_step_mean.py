def mean(host):
    return host.mean().reshape(1)
