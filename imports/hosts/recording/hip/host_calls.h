// Calls that give what an MI300X would, or do nothing.
#pragma once
#define KS_NOTHING(name)                                              \
    template <class... A> hipError_t name(A&&...) {                   \
        return hipSuccess;                                            \
    }
KS_NOTHING(hipInit) KS_NOTHING(hipSetDevice) KS_NOTHING(hipDeviceReset) KS_NOTHING(hipDeviceSynchronize)
KS_NOTHING(hipThreadSynchronize) KS_NOTHING(hipThreadExit) KS_NOTHING(hipGetLastError) KS_NOTHING(hipPeekAtLastError)
KS_NOTHING(hipStreamSynchronize) KS_NOTHING(hipStreamDestroy) KS_NOTHING(hipStreamWaitEvent)
KS_NOTHING(hipStreamQuery) KS_NOTHING(hipEventRecord) KS_NOTHING(hipEventSynchronize) KS_NOTHING(hipEventDestroy)
KS_NOTHING(hipEventQuery) KS_NOTHING(hipFuncSetCacheConfig) KS_NOTHING(hipDeviceSetCacheConfig)
KS_NOTHING(hipDeviceSetSharedMemConfig) KS_NOTHING(hipFuncSetAttribute) KS_NOTHING(hipFuncSetSharedMemConfig)
KS_NOTHING(hipSetDeviceFlags) KS_NOTHING(hipDeviceSetLimit) KS_NOTHING(hipMemPrefetchAsync) KS_NOTHING(hipMemAdvise)
KS_NOTHING(hipDeviceEnablePeerAccess) KS_NOTHING(hipDeviceDisablePeerAccess) KS_NOTHING(hipHostUnregister)
KS_NOTHING(hipProfilerStart) KS_NOTHING(hipProfilerStop) KS_NOTHING(hipStreamAttachMemAsync)
KS_NOTHING(hipDeviceSetMemPool) KS_NOTHING(hipMemPoolSetAttribute) KS_NOTHING(hipCtxSynchronize)
KS_NOTHING(hipCtxSetCacheConfig) KS_NOTHING(hipCtxDestroy) KS_NOTHING(hipStreamSetAttribute)
#undef KS_NOTHING
inline const char* hipGetErrorString(hipError_t error) { return error == hipSuccess ? "no error" : "an error"; }
inline const char* hipGetErrorName(hipError_t error) { return error == hipSuccess ? "hipSuccess" : "hipError"; }
inline hipError_t hipGetDeviceCount(int* count) { return *count = 1, hipSuccess; }
inline hipError_t hipGetDevice(int* device) { return *device = 0, hipSuccess; }
inline hipError_t hipDeviceGet(int* device, int) { return *device = 0, hipSuccess; }
inline hipError_t hipDriverGetVersion(int* version) { return *version = 60000000, hipSuccess; }
inline hipError_t hipRuntimeGetVersion(int* version) { return *version = 60000000, hipSuccess; }
inline hipError_t hipDeviceCanAccessPeer(int* can, int, int) { return *can = 0, hipSuccess; }
inline hipError_t hipGetDeviceProperties(hipDeviceProp_t* properties, int) {
    hipDeviceProp_t p{};
    strcpy(p.name, "AMD Instinct MI300X");
    strcpy(p.gcnArchName, "gfx942");
    p.totalGlobalMem = size_t(192) << 30;
    p.sharedMemPerBlock = p.sharedMemPerBlockOptin = p.sharedMemPerMultiprocessor = 65536;
    p.maxSharedMemoryPerMultiProcessor = p.regsPerBlock = p.regsPerMultiprocessor = 65536;
    p.warpSize = 64;
    p.maxThreadsPerBlock = p.maxThreadsDim[0] = p.maxThreadsDim[1] = p.maxThreadsDim[2] = 1024;
    p.maxGridSize[0] = 2147483647;
    p.maxGridSize[1] = p.maxGridSize[2] = 65535;
    p.clockRate = p.clockInstructionRate = 2100000;
    p.totalConstMem = 65536;
    p.major = 9;
    p.minor = 4;
    p.multiProcessorCount = 304;
    p.canMapHostMemory = p.concurrentKernels = p.unifiedAddressing = p.managedMemory = p.cooperativeLaunch = 1;
    p.deviceOverlap = p.asyncEngineCount = 1;
    p.memoryClockRate = 2600000;
    p.memoryBusWidth = 8192;
    p.l2CacheSize = 4194304;
    p.maxThreadsPerMultiProcessor = 2048;
    return *properties = p, hipSuccess;
}
inline hipError_t hipChooseDevice(int* device, const hipDeviceProp_t*) { return *device = 0, hipSuccess; }
inline hipError_t hipDeviceGetAttribute(int* value, hipDeviceAttribute_t attribute, int) {
    return *value = ks_attribute(attribute), hipSuccess;
}
inline hipError_t hipDeviceGetName(char* name, int bytes, int) { return snprintf(name, bytes, "MI300X"), hipSuccess; }
inline hipError_t hipDeviceTotalMem(size_t* bytes, int) { return *bytes = size_t(192) << 30, hipSuccess; }
inline hipError_t hipMemGetInfo(size_t* free, size_t* total) {
    return *free = *total = size_t(192) << 30, hipSuccess;
}
inline hipError_t hipStreamCreate(hipStream_t* stream) { return *stream = (hipStream_t)8, hipSuccess; }
inline hipError_t hipStreamCreateWithFlags(hipStream_t* stream, unsigned) { return hipStreamCreate(stream); }
inline hipError_t hipStreamCreateWithPriority(hipStream_t* stream, unsigned, int) { return hipStreamCreate(stream); }
inline hipError_t hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
    return *least = *greatest = 0, hipSuccess;
}
inline hipError_t hipEventCreate(hipEvent_t* event, unsigned = 0) { return *event = (hipEvent_t)8, hipSuccess; }
inline hipError_t hipEventCreateWithFlags(hipEvent_t* event, unsigned) { return hipEventCreate(event); }
inline hipError_t hipEventElapsedTime(float* ms, hipEvent_t, hipEvent_t) { return *ms = 1.0f, hipSuccess; }
inline hipError_t hipHostRegister(void* place, size_t bytes, unsigned) {
    void* same = place;
    return ks_malloc(&same, bytes, "registered", "");
}
template <class F> hipError_t hipFuncGetAttributes(hipFuncAttributes* attributes, F) {
    *attributes = {};
    attributes->maxThreadsPerBlock = 1024;
    attributes->numRegs = 32;
    return hipSuccess;
}
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, F, int threads, size_t) {
    return *blocks = 2048 / (threads < 1 ? 1 : threads), hipSuccess;
}
template <class F>
hipError_t hipOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, F, int threads, size_t, unsigned) {
    return *blocks = 2048 / (threads < 1 ? 1 : threads), hipSuccess;
}
template <class F> hipError_t hipOccupancyMaxPotentialBlockSize(int* grid, int* block, F, size_t = 0, int limit = 0) {
    *block = limit > 0 && limit < 1024 ? limit : 1024;
    return *grid = 608, hipSuccess;
}
inline hipError_t hipPointerGetAttributes(hipPointerAttribute_t* attributes, const void* place) {
    *attributes = {};
    attributes->devicePointer = (void*)place;
    return hipSuccess;
}
inline hipError_t hipDeviceGetDefaultMemPool(hipMemPool_t* pool, int) { return *pool = nullptr, hipSuccess; }
