// Errors, of which there are none here, and kinds.
#pragma once
enum hipError_t : int {
    hipSuccess = 0,
    hipErrorInvalidValue = 1,
    hipErrorOutOfMemory = 2,
    hipErrorMemoryAllocation = 2,
    hipErrorNotInitialized = 3,
    hipErrorInitializationError = 3,
    hipErrorInvalidConfiguration = 9,
    hipErrorInvalidDevice = 101,
    hipErrorNoDevice = 100,
    hipErrorInvalidDevicePointer = 17,
    hipErrorInvalidSymbol = 13,
    hipErrorNotReady = 600,
    hipErrorIllegalAddress = 700,
    hipErrorLaunchFailure = 719,
    hipErrorLaunchTimeOut = 702,
    hipErrorLaunchOutOfResources = 701,
    hipErrorNotSupported = 801,
    hipErrorPeerAccessAlreadyEnabled = 704,
    hipErrorUnknown = 999,
};
typedef hipError_t hipError;
enum hipMemcpyKind {
    hipMemcpyHostToHost = 0,
    hipMemcpyHostToDevice = 1,
    hipMemcpyDeviceToHost = 2,
    hipMemcpyDeviceToDevice = 3,
    hipMemcpyDefault = 4,
};
