//== a size of zero | args=x,y,0|3
__global__ void k(const float* x, float* y, int n) {
    y[threadIdx.x] = x[threadIdx.x / n]; // BUG: division_by_zero
}
//== remainder in a swizzle | args=x,y,0|3
__global__ void k(const float* x, float* y, int n) {
    int row = threadIdx.x % n; // BUG: division_by_zero
    y[threadIdx.x] = x[row];
}
//== tiles fewer than waves | args=x,y,64|256
__global__ void k(const float* x, float* y, int n) {
    int tiles = n / 128;
    unsigned tile = threadIdx.x / tiles; // BUG: division_by_zero
    y[threadIdx.x] = x[tile];
}
