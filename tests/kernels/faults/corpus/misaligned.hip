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
//== four floats copied whole
__global__ void k(const float* x, float* y) {
    float4 v = *(const float4*)(x + 4 * threadIdx.x + 1); // BUG: misaligned //-
    float4 v = *(const float4*)(x + 4 * threadIdx.x); //+
    y[threadIdx.x] = v.x + v.w;
}
//== four floats from buffer to buffer
__global__ void k(const float* x, float* y) {
    ((float4*)y)[threadIdx.x] = *(const float4*)(x + 4 * (threadIdx.x % 32) + 2); // BUG: misaligned //-
    ((float4*)y)[threadIdx.x] = *(const float4*)(x + 4 * (threadIdx.x % 32)); //+
}
//== four floats stored whole
__global__ void k(const float* x, float* y) {
    float4 v = make_float4(x[threadIdx.x], 1, 2, 3);
    *reinterpret_cast<float4*>(y + 4 * threadIdx.x + 3) = v; // BUG: misaligned //-
    *reinterpret_cast<float4*>(y + 4 * threadIdx.x) = v; //+
}
//== two floats copied whole
__global__ void k(const float* x, float* y) {
    const float2* pairs = (const float2*)(x + 1); //-
    const float2* pairs = (const float2*)x; //+
    float2 v = pairs[threadIdx.x]; // BUG: misaligned
    y[threadIdx.x] = v.x + v.y;
}
//== LDS rows with an odd pitch, copied whole
__global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float tile[64 * 8];
    int t = threadIdx.x, pitch = 5; //-
    int t = threadIdx.x, pitch = 8; //+
    for (int i = 0; i < 4; ++i) tile[pitch * t + i] = x[4 * t + i];
    __syncthreads();
    const float* row = tile + pitch * (63 - t);
    float4 v = *(const float4*)row; // BUG: misaligned
    y[t] = v.x + v.w;
}
//== LDS filled with whole vectors
__global__ void k(const float* x, float* y) {
    __shared__ __align__(16) float tile[64 * 8];
    float* row = tile + 6 * threadIdx.x; //-
    float* row = tile + 8 * threadIdx.x; //+
    *(float4*)row = ((const float4*)x)[threadIdx.x]; // BUG: misaligned
    y[threadIdx.x] = row[0] + row[3];
}
//== a structure with alignment copied whole
struct alignas(16) Row { float a, b, c, d; };
__global__ void k(const float* x, float* y) {
    Row r = *(const Row*)(x + 4 * threadIdx.x + 2); // BUG: misaligned //-
    Row r = *(const Row*)(x + 4 * threadIdx.x); //+
    y[threadIdx.x] = r.a + r.d;
}
//== a template that loads anything
template <class T> __device__ T load(const float* from) {
    return *reinterpret_cast<const T*>(from); // BUG: misaligned
}
__global__ void k(const float* x, float* y) {
    int4 v = load<int4>(x + 4 * threadIdx.x + 2); //-
    int4 v = load<int4>(x + 4 * threadIdx.x); //+
    y[threadIdx.x] = v.x + v.w;
}
//== a type that promises less
typedef float4 Loose __attribute__((aligned(4)));
__global__ void k(const float* x, float* y) {
    float4 v = *(const float4*)(x + 4 * threadIdx.x + 1); // BUG: misaligned //-
    float4 v = *(const Loose*)(x + 4 * threadIdx.x + 1); //+
    float4 w; //+
    __builtin_memcpy(&w, x + 4 * threadIdx.x + 1, sizeof w); //+
    v.x += w.y; //+
    y[threadIdx.x] = v.x + v.w;
}
//== straight to LDS from an odd place
__global__ void k(const float* x, float* y) {
    __shared__ int tile[80];
    char* to = (char*)tile + 2; //-
    char* to = (char*)tile + 4; //+
    __builtin_amdgcn_global_load_lds((__attribute__((address_space(1))) void*)(x + threadIdx.x), // BUG: misaligned ~1
                                     (__attribute__((address_space(3))) void*)to, 4, 0, 0);
    __syncthreads();
    y[threadIdx.x] = tile[threadIdx.x + 1];
}
