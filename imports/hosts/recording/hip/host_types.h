// Handles, properties and flags of HIP's interface for hosts.
#pragma once
typedef struct ihipStream_t* hipStream_t;
typedef struct ihipEvent_t* hipEvent_t;
typedef struct ihipGraph* hipGraph_t;
typedef struct hipGraphExec* hipGraphExec_t;
typedef int hipDevice_t;
typedef struct ihipCtx_t* hipCtx_t;
typedef void* hipDeviceptr_t;
typedef struct ihipMemPool_t* hipMemPool_t;
struct hipUUID {
    char bytes[16];
};
struct hipDeviceProp_t {
    char name[256];
    hipUUID uuid;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3], clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap, multiProcessorCount, kernelExecTimeoutEnabled, integrated, canMapHostMemory, computeMode;
    int maxTexture1D, maxTexture2D[2], maxTexture3D[3], concurrentKernels, ECCEnabled, pciBusID, pciDeviceID;
    int pciDomainID, tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize;
    int maxThreadsPerMultiProcessor, streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID, pageableMemoryAccess;
    int concurrentManagedAccess, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    size_t sharedMemPerBlockOptin, maxSharedMemoryPerMultiProcessor;
    int clockInstructionRate, isLargeBar, asicRevision, maxBlocksPerMultiProcessor, persistingL2CacheMaxSize;
    char gcnArchName[256];
};
struct hipFuncAttributes {
    int binaryVersion, cacheModeCA;
    size_t constSizeBytes, localSizeBytes;
    int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
    size_t sharedSizeBytes;
};
struct hipPitchedPtr {
    void* ptr;
    size_t pitch, xsize, ysize;
};
struct hipExtent {
    size_t width, height, depth;
};
struct hipPos {
    size_t x, y, z;
};
struct hipPointerAttribute_t {
    int type, device;
    void *devicePointer, *hostPointer;
    int isManaged;
    unsigned allocationFlags;
};
enum hipFuncCache_t { hipFuncCachePreferNone, hipFuncCachePreferShared, hipFuncCachePreferL1, hipFuncCachePreferEqual };
enum hipSharedMemConfig { hipSharedMemBankSizeDefault, hipSharedMemBankSizeFourByte, hipSharedMemBankSizeEightByte };
enum hipFuncAttribute {
    hipFuncAttributeMaxDynamicSharedMemorySize = 8,
    hipFuncAttributePreferredSharedMemoryCarveout = 9
};
enum hipMemoryAdvise {
    hipMemAdviseSetReadMostly = 1,
    hipMemAdviseUnsetReadMostly,
    hipMemAdviseSetPreferredLocation,
    hipMemAdviseUnsetPreferredLocation,
    hipMemAdviseSetAccessedBy,
    hipMemAdviseUnsetAccessedBy,
    hipMemAdviseSetCoarseGrain
};
enum hipDeviceAttribute_t {
    hipDeviceAttributeWarpSize,
    hipDeviceAttributeMultiprocessorCount,
    hipDeviceAttributeMaxThreadsPerBlock,
    hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDeviceAttributeSharedMemPerBlockOptin,
    hipDeviceAttributeMaxSharedMemoryPerMultiprocessor,
    hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeMaxThreadsPerMultiprocessor = hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDeviceAttributeCooperativeLaunch,
    hipDeviceAttributeManagedMemory,
    hipDeviceAttributeConcurrentManagedAccess,
    hipDeviceAttributePageableMemoryAccess,
    hipDeviceAttributeMemoryPoolsSupported,
    hipDeviceAttributeUnifiedAddressing,
    hipDeviceAttributeCanMapHostMemory,
    hipDeviceAttributeClockRate,
    hipDeviceAttributeMemoryClockRate,
    hipDeviceAttributeMemoryBusWidth,
    hipDeviceAttributeWallClockRate,
    hipDeviceAttributeComputeCapabilityMajor,
    hipDeviceAttributeComputeCapabilityMinor,
    hipDeviceAttributeMaxBlockDimX,
    hipDeviceAttributeMaxBlockDimY,
    hipDeviceAttributeMaxBlockDimZ,
    hipDeviceAttributeMaxGridDimX,
    hipDeviceAttributeMaxGridDimY,
    hipDeviceAttributeMaxGridDimZ,
    hipDeviceAttributeMaxRegistersPerBlock,
    hipDeviceAttributeL2CacheSize,
    hipDevAttrMultiProcessorCount = hipDeviceAttributeMultiprocessorCount,
    hipDevAttrMaxSharedMemoryPerBlock = hipDeviceAttributeMaxSharedMemoryPerBlock,
    hipDevAttrMaxSharedMemoryPerBlockOptin = hipDeviceAttributeSharedMemPerBlockOptin,
    hipDevAttrMaxSharedMemoryPerMultiprocessor = hipDeviceAttributeMaxSharedMemoryPerMultiprocessor,
    hipDevAttrMaxThreadsPerMultiProcessor = hipDeviceAttributeMaxThreadsPerMultiProcessor,
    hipDevAttrMaxThreadsPerBlock = hipDeviceAttributeMaxThreadsPerBlock,
    hipDevAttrWarpSize = hipDeviceAttributeWarpSize,
    hipDevAttrCooperativeLaunch = hipDeviceAttributeCooperativeLaunch,
    hipDevAttrClockRate = hipDeviceAttributeClockRate,
    hipDevAttrConcurrentManagedAccess = hipDeviceAttributeConcurrentManagedAccess,
    hipDevAttrMemoryPoolsSupported = hipDeviceAttributeMemoryPoolsSupported,
    hipDevAttrComputeCapabilityMajor = hipDeviceAttributeComputeCapabilityMajor,
    hipDevAttrComputeCapabilityMinor = hipDeviceAttributeComputeCapabilityMinor,
    hipDeviceAttributeComputeMode = 100,
    hipDeviceAttributeIntegrated,
    hipDeviceAttributeConcurrentKernels,
    hipDeviceAttributeAsyncEngineCount,
    hipDeviceAttributeHostRegisterSupported,
    hipDevAttrComputeMode = hipDeviceAttributeComputeMode,
    hipDevAttrIntegrated = hipDeviceAttributeIntegrated,
    hipDevAttrConcurrentKernels = hipDeviceAttributeConcurrentKernels,
    hipDevAttrAsyncEngineCount = hipDeviceAttributeAsyncEngineCount,
    hipDevAttrHostRegisterSupported = hipDeviceAttributeHostRegisterSupported,
    hipDevAttrManagedMemory = hipDeviceAttributeManagedMemory,
    hipDevAttrUnifiedAddressing = hipDeviceAttributeUnifiedAddressing,
    hipDevAttrPageableMemoryAccess = hipDeviceAttributePageableMemoryAccess,
    hipDevAttrMaxBlockDimX = hipDeviceAttributeMaxBlockDimX,
    hipDevAttrMaxGridDimX = hipDeviceAttributeMaxGridDimX,
    hipDevAttrMemoryClockRate = hipDeviceAttributeMemoryClockRate,
    hipDevAttrGlobalMemoryBusWidth = hipDeviceAttributeMemoryBusWidth,
    hipDevAttrL2CacheSize = hipDeviceAttributeL2CacheSize,
};
enum hipComputeMode { hipComputeModeDefault, hipComputeModeExclusive, hipComputeModeProhibited };
#define hipStreamDefault 0
#define hipStreamPerThread ((hipStream_t)2)
#define hipStreamLegacy ((hipStream_t)1)
#define hipStreamNonBlocking 1u
#define hipEventDefault 0u
#define hipEventBlockingSync 1u
#define hipEventDisableTiming 2u
#define hipHostMallocDefault 0u
#define hipHostMallocPortable 1u
#define hipHostMallocMapped 2u
#define hipHostMallocWriteCombined 4u
#define hipHostMallocCoherent 8u
#define hipHostMallocNonCoherent 16u
#define hipHostAllocDefault 0u
#define hipHostAllocPortable 1u
#define hipHostAllocMapped 2u
#define hipHostAllocWriteCombined 4u
#define hipHostRegisterDefault 0u
#define hipHostRegisterPortable 1u
#define hipHostRegisterMapped 2u
#define hipMemAttachGlobal 1u
#define hipMemAttachHost 2u
#define hipCpuDeviceId (-1)
#define hipInvalidDeviceId (-2)
#define hipDeviceScheduleAuto 0u
#define hipDeviceScheduleSpin 1u
#define hipDeviceScheduleYield 2u
#define hipDeviceScheduleBlockingSync 4u
#define hipDeviceMapHost 8u
#define hipDeviceLmemResizeToMax 16u
#define hipOccupancyDefault 0u
