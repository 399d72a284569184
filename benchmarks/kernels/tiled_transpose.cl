#define TILE 32
__kernel void tiled_transpose(__global const float* a, __global float* c, int n) {
    __local float tile[TILE][TILE + 1];
    int x = get_local_id(0), y = get_local_id(1);
    int column = get_group_id(0) * TILE + x, row = get_group_id(1) * TILE + y;
    for (int i = 0; i < TILE; i += 8) tile[y + i][x] = a[(row + i) * n + column];
    barrier(CLK_LOCAL_MEM_FENCE);
    column = get_group_id(1) * TILE + x;
    row = get_group_id(0) * TILE + y;
    for (int i = 0; i < TILE; i += 8) c[(row + i) * n + column] = tile[x][y + i];
}
