// The types of the recorder's own interface, without HIP's keywords.
#pragma once
struct ks_dim3 {
    unsigned x, y, z;
};
