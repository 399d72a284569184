//== four floats from an odd place
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    floatx4 v = *(const floatx4*)(x + threadIdx.x + 1); // BUG: misaligned //-
    floatx4 v = *(const floatx4*)(x + 4 * threadIdx.x); //+
    y[threadIdx.x] = v.x + v.w;
}
//== rows with an odd pitch | block=16
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    int pitch = 33; //-
    int pitch = 36; //+
    float sum = 0;
    for (int r = 0; r < 16; ++r) {
        floatx4 v = ((const floatx4*)(x + r * pitch))[threadIdx.x % 8]; // BUG: misaligned
        sum += v.x + v.y + v.z + v.w;
    }
    y[threadIdx.x] = sum;
}
//== LDS rows with an odd pitch
typedef float floatx4 __attribute__((ext_vector_type(4)));
__global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float tile[64][5]; //-
    __shared__ __align__(16) float tile[64][8]; //+
    int t = threadIdx.x;
    for (int i = 0; i < 4; ++i) tile[t][i] = x[4 * t + i];
    __syncthreads();
    const float* row = tile[63 - t];
    floatx4 v = *(const floatx4*)row; // BUG: misaligned
    y[t] = v.x + v.w;
}
//== two halves at once
__global__ void k(const float* x, float* y) {
    const _Float16* h = (const _Float16*)x;
    unsigned v = *(const unsigned*)(h + threadIdx.x); // BUG: misaligned //-
    unsigned v = *(const unsigned*)(h + 2 * threadIdx.x); //+
    y[threadIdx.x] = v;
}
//== store of a vector
typedef float floatx2 __attribute__((ext_vector_type(2)));
__global__ void k(const float* x, float* y) {
    *(floatx2*)(y + 2 * threadIdx.x + 1) = floatx2{x[threadIdx.x], 1}; // BUG: misaligned //-
    *(floatx2*)(y + 2 * threadIdx.x) = floatx2{x[threadIdx.x], 1}; //+
}
//== structure with alignment
struct alignas(16) Row { float a, b, c, d; };
__global__ void k(const float* x, float* y) {
    const Row& r = *(const Row*)(x + 2 * threadIdx.x); // BUG: misaligned //-
    const Row& r = *(const Row*)(x + 4 * threadIdx.x); //+
    y[threadIdx.x] = r.a + r.d;
}
//== eight floats as one vector
typedef float floatx8 __attribute__((ext_vector_type(8)));
__global__ void k(const float* x, float* y) {
    floatx8 v = *(const floatx8*)(x + 4 * (threadIdx.x % 32) + 4); // BUG: misaligned //-
    floatx8 v = *(const floatx8*)(x + 8 * (threadIdx.x % 32)); //+
    y[threadIdx.x] = v[0] + v[7];
}
//== a member of a vector of HIP
__global__ void k(const float* x, float* y) {
    y[threadIdx.x] = ((const float4*)(x + 2 * threadIdx.x))->z; // BUG: misaligned //-
    y[threadIdx.x] = ((const float4*)(x + 4 * threadIdx.x))->z; //+
}
