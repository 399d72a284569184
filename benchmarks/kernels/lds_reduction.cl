__kernel void lds_reduction(__global const float* a, __global float* c) {
    __local float sums[256];
    int t = get_local_id(0);
    sums[t] = a[get_group_id(0) * 256 + t];
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int width = 128; width > 0; width /= 2) {
        if (t < width) sums[t] += sums[t + width];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0) c[get_group_id(0)] = sums[0];
}
