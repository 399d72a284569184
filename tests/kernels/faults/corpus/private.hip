//== recursion without end
__device__ __noinline__ float deep(float v, int n) {
    volatile float local[64];
    local[n % 64] = v;
    if (n > 40) return v; //+
    return n < 0 ? v : deep(v, n + 1) + local[n % 64]; // BUG: stack_overflow ~4
}
__global__ void k(const float* x, float* y) { y[threadIdx.x] = deep(x[threadIdx.x], 0); }
//== a large array a work-item
__global__ void k(const float* x, float* y) {
    volatile float local[100000]; // BUG: compile_error ~4 //-
    volatile float local[1000]; //+
    for (int i = 0; i < 1000; ++i) local[i] = x[i];
    y[threadIdx.x] = local[threadIdx.x];
}
//== a register tile, index at run time
__global__ void k(const float* x, float* y) {
    float acc[8] = {};
    acc[threadIdx.x % 9] = x[0]; // BUG: out_of_bounds //-
    acc[threadIdx.x % 8] = x[0]; //+
    y[threadIdx.x] = acc[(int)x[1]];
}
//== a register tile, one column too far
__global__ void k(const float* x, float* y) {
    constexpr int rows = 4, columns = 4, wide = 5; //-
    constexpr int rows = 4, columns = 4, wide = 4; //+
    float acc[rows][columns] = {};
    for (int k = 0; k < 8; ++k)
        for (int i = 0; i < rows; ++i)
            for (int j = 0; j < wide; ++j)
                acc[i][j] += x[k + i] * x[k + j]; // BUG: out_of_bounds
    float sum = 0;
    for (int i = 0; i < rows; ++i)
        for (int j = 0; j < columns; ++j) sum += acc[i][j];
    y[threadIdx.x] = sum;
}
//== an unrolled loop that runs once too often
__global__ void k(const float* x, float* y) {
    float part[8];
    int count = 9; //-
    int count = 8; //+
    #pragma unroll
    for (int i = 0; i < count; ++i) part[i] = x[i]; // BUG: out_of_bounds
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += part[i];
    y[threadIdx.x] = sum;
}
//== one element before
__global__ void k(const float* x, float* y) {
    int seen[4] = {1, 2, 3, 4};
    int t = threadIdx.x;
    y[t] = seen[t % 4 - 1]; // BUG: out_of_bounds //-
    y[t] = seen[(t + 3) % 4]; //+
}
//== through a function's pointer
__device__ void put(float* part, int at, float v) {
    part[at] = v; // BUG: out_of_bounds
}
__global__ void k(const float* x, float* y) {
    float part[8] = {};
    put(part, threadIdx.x % 9, x[0]); //-
    put(part, threadIdx.x % 8, x[0]); //+
    float sum = 0;
    for (int i = 0; i < 8; ++i) sum += part[i];
    y[threadIdx.x] = sum;
}
//== a structure of registers
struct Tile {
    float value[6];
    __device__ float& operator[](int i) { return value[i]; }
};
__global__ void k(const float* x, float* y) {
    Tile tile = {};
    tile[threadIdx.x % 7] += x[0]; // BUG: out_of_bounds ~3 //-
    tile[threadIdx.x % 6] += x[0]; //+
    y[threadIdx.x] = tile[(int)x[1]];
}
//== one member into the next
struct Pair { float low[4], high[4]; };
__global__ void k(const float* x, float* y) {
    Pair pair = {};
    pair.low[threadIdx.x % 5] = x[0]; // BUG: out_of_bounds //-
    pair.low[threadIdx.x % 4] = x[0]; //+
    y[threadIdx.x] = pair.high[threadIdx.x % 4];
}
//== rows in one go
__global__ void k(const float* x, float* y) {
    float acc[4][4];
    for (int i = 0; i < 17; ++i) acc[0][i] = x[i]; // BUG: out_of_bounds //-
    for (int i = 0; i < 16; ++i) acc[0][i] = x[i]; //+
    float* flat = &acc[0][0];
    float sum = 0;
    for (float* p = flat; p != flat + 16; ++p) sum += *p;
    y[threadIdx.x] = sum + acc[threadIdx.x % 4][3];
}
//== a native vector
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    floatx4 v = *(const floatx4*)x;
    y[threadIdx.x] = v[threadIdx.x % 5]; // BUG: out_of_bounds //-
    y[threadIdx.x] = v[threadIdx.x % 4]; //+
}
//== a table of constants
__constant__ float table[4] = {1, 2, 3, 4};
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = table[threadIdx.x % 5]; // BUG: out_of_bounds //-
    y[threadIdx.x] = table[threadIdx.x % 4]; //+
}
//== from one tile of LDS into the other
__global__ void k(const float* x, float* y) {
    __shared__ float first[64], second[64];
    int t = threadIdx.x;
    first[t] = second[t] = x[t];
    __syncthreads();
    y[t] = first[t + 96]; // BUG: out_of_bounds //-
    y[t] = first[63 - t] + second[t / 2]; //+
}
//== rows of LDS in one go
__global__ void k(const float* x, float* y) {
    __shared__ float tile[8][8];
    int t = threadIdx.x;
    tile[0][t] = x[t];
    __syncthreads();
    y[t] = tile[0][t + 1]; // BUG: out_of_bounds //-
    y[t] = tile[0][63 - t]; //+
}
