// A library of products: its names, and a note where one is called, since it computes nothing here.
#pragma once
#include <hip/hip_runtime.h>
typedef struct ks_hipblas* hipblasHandle_t;
enum hipblasStatus_t { HIPBLAS_STATUS_SUCCESS, HIPBLAS_STATUS_NOT_INITIALIZED, HIPBLAS_STATUS_ALLOC_FAILED, HIPBLAS_STATUS_INVALID_VALUE, HIPBLAS_STATUS_ARCH_MISMATCH, HIPBLAS_STATUS_MAPPING_ERROR, HIPBLAS_STATUS_EXECUTION_FAILED, HIPBLAS_STATUS_INTERNAL_ERROR, HIPBLAS_STATUS_NOT_SUPPORTED, HIPBLAS_STATUS_LICENSE_ERROR };
enum hipblasValues { HIPBLAS_OP_N, HIPBLAS_OP_T, HIPBLAS_OP_C, HIPBLAS_POINTER_MODE_HOST, HIPBLAS_POINTER_MODE_DEVICE, HIPBLAS_DEFAULT_MATH, HIPBLAS_TENSOR_OP_MATH, HIPBLAS_TF32_TENSOR_OP_MATH, HIPBLAS_PEDANTIC_MATH, HIPBLAS_GEMM_DEFAULT, HIPBLAS_GEMM_DEFAULT_TENSOR_OP, HIPBLAS_COMPUTE_16F, HIPBLAS_COMPUTE_32F, HIPBLAS_COMPUTE_32F_FAST_TF32, HIPBLAS_COMPUTE_32F_FAST_16F, HIPBLAS_COMPUTE_64F, HIPBLAS_FILL_MODE_LOWER, HIPBLAS_FILL_MODE_UPPER, HIPBLAS_DIAG_NON_UNIT, HIPBLAS_DIAG_UNIT, HIPBLAS_SIDE_LEFT, HIPBLAS_SIDE_RIGHT };
typedef hipblasValues hipblasOperation_t;
typedef hipblasValues hipblasPointerMode_t;
typedef hipblasValues hipblasMath_t;
typedef hipblasValues hipblasGemmAlgo_t;
typedef hipblasValues hipblasComputeType_t;
typedef hipblasValues hipblasFillMode_t;
typedef hipblasValues hipblasDiagType_t;
typedef hipblasValues hipblasSideMode_t;
#define KS_NOTED(name) \
    template <class... A> hipblasStatus_t name(A&&...) { return ks_library(#name), HIPBLAS_STATUS_SUCCESS; }
#define KS_QUIET(name) \
    template <class... A> hipblasStatus_t name(A&&...) { return HIPBLAS_STATUS_SUCCESS; }
KS_QUIET(hipblasCreate) KS_QUIET(hipblasDestroy) KS_QUIET(hipblasSetMathMode) KS_QUIET(hipblasSetStream) KS_QUIET(hipblasGetStream) KS_QUIET(hipblasSetPointerMode) KS_QUIET(hipblasSetWorkspace) KS_QUIET(hipblasGetVersion) KS_QUIET(hipblasSetAtomicsMode)
KS_NOTED(hipblasSgemm) KS_NOTED(hipblasDgemm) KS_NOTED(hipblasHgemm) KS_NOTED(hipblasCgemm)
KS_NOTED(hipblasZgemm) KS_NOTED(hipblasGemmEx) KS_NOTED(hipblasGemm3m) KS_NOTED(hipblasSgemmEx)
KS_NOTED(hipblasSgemmBatched) KS_NOTED(hipblasDgemmBatched) KS_NOTED(hipblasSgemmStridedBatched) KS_NOTED(hipblasDgemmStridedBatched)
KS_NOTED(hipblasGemmStridedBatchedEx) KS_NOTED(hipblasGemmBatchedEx) KS_NOTED(hipblasSgemv) KS_NOTED(hipblasDgemv)
KS_NOTED(hipblasSger) KS_NOTED(hipblasDger) KS_NOTED(hipblasSaxpy) KS_NOTED(hipblasDaxpy)
KS_NOTED(hipblasSdot) KS_NOTED(hipblasDdot) KS_NOTED(hipblasSnrm2) KS_NOTED(hipblasDnrm2)
KS_NOTED(hipblasSscal) KS_NOTED(hipblasDscal) KS_NOTED(hipblasSasum) KS_NOTED(hipblasDasum)
KS_NOTED(hipblasIsamax) KS_NOTED(hipblasIdamax) KS_NOTED(hipblasScopy) KS_NOTED(hipblasDcopy)
KS_NOTED(hipblasSgeam) KS_NOTED(hipblasDgeam) KS_NOTED(hipblasSsyrk) KS_NOTED(hipblasDsyrk)
KS_NOTED(hipblasStrsm) KS_NOTED(hipblasDtrsm) KS_NOTED(hipblasSetVector) KS_NOTED(hipblasGetVector)
KS_NOTED(hipblasSetMatrix) KS_NOTED(hipblasGetMatrix)
#undef KS_NOTED
#undef KS_QUIET
inline const char* hipblasGetStatusString(hipblasStatus_t) { return ""; }
