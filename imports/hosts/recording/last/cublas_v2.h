// A library of products: its names, and a note where one is called, since it computes nothing here.
#pragma once
#include <hip/hip_runtime.h>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
typedef struct ks_cublas* cublasHandle_t;
enum cublasStatus_t { CUBLAS_STATUS_SUCCESS, CUBLAS_STATUS_NOT_INITIALIZED, CUBLAS_STATUS_ALLOC_FAILED, CUBLAS_STATUS_INVALID_VALUE, CUBLAS_STATUS_ARCH_MISMATCH, CUBLAS_STATUS_MAPPING_ERROR, CUBLAS_STATUS_EXECUTION_FAILED, CUBLAS_STATUS_INTERNAL_ERROR, CUBLAS_STATUS_NOT_SUPPORTED, CUBLAS_STATUS_LICENSE_ERROR };
enum cublasValues { CUBLAS_OP_N, CUBLAS_OP_T, CUBLAS_OP_C, CUBLAS_POINTER_MODE_HOST, CUBLAS_POINTER_MODE_DEVICE, CUBLAS_DEFAULT_MATH, CUBLAS_TENSOR_OP_MATH, CUBLAS_TF32_TENSOR_OP_MATH, CUBLAS_PEDANTIC_MATH, CUBLAS_GEMM_DEFAULT, CUBLAS_GEMM_DEFAULT_TENSOR_OP, CUBLAS_COMPUTE_16F, CUBLAS_COMPUTE_32F, CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_COMPUTE_32F_FAST_16F, CUBLAS_COMPUTE_64F, CUBLAS_FILL_MODE_LOWER, CUBLAS_FILL_MODE_UPPER, CUBLAS_DIAG_NON_UNIT, CUBLAS_DIAG_UNIT, CUBLAS_SIDE_LEFT, CUBLAS_SIDE_RIGHT };
typedef cublasValues cublasOperation_t;
typedef cublasValues cublasPointerMode_t;
typedef cublasValues cublasMath_t;
typedef cublasValues cublasGemmAlgo_t;
typedef cublasValues cublasComputeType_t;
typedef cublasValues cublasFillMode_t;
typedef cublasValues cublasDiagType_t;
typedef cublasValues cublasSideMode_t;
#define KS_NOTED(name) \
    template <class... A> cublasStatus_t name(A&&...) { return ks_library(#name), CUBLAS_STATUS_SUCCESS; }
#define KS_QUIET(name) \
    template <class... A> cublasStatus_t name(A&&...) { return CUBLAS_STATUS_SUCCESS; }
KS_QUIET(cublasCreate) KS_QUIET(cublasDestroy) KS_QUIET(cublasSetMathMode) KS_QUIET(cublasSetStream) KS_QUIET(cublasGetStream) KS_QUIET(cublasSetPointerMode) KS_QUIET(cublasSetWorkspace) KS_QUIET(cublasGetVersion) KS_QUIET(cublasSetAtomicsMode)
KS_NOTED(cublasSgemm) KS_NOTED(cublasDgemm) KS_NOTED(cublasHgemm) KS_NOTED(cublasCgemm)
KS_NOTED(cublasZgemm) KS_NOTED(cublasGemmEx) KS_NOTED(cublasGemm3m) KS_NOTED(cublasSgemmEx)
KS_NOTED(cublasSgemmBatched) KS_NOTED(cublasDgemmBatched) KS_NOTED(cublasSgemmStridedBatched) KS_NOTED(cublasDgemmStridedBatched)
KS_NOTED(cublasGemmStridedBatchedEx) KS_NOTED(cublasGemmBatchedEx) KS_NOTED(cublasSgemv) KS_NOTED(cublasDgemv)
KS_NOTED(cublasSger) KS_NOTED(cublasDger) KS_NOTED(cublasSaxpy) KS_NOTED(cublasDaxpy)
KS_NOTED(cublasSdot) KS_NOTED(cublasDdot) KS_NOTED(cublasSnrm2) KS_NOTED(cublasDnrm2)
KS_NOTED(cublasSscal) KS_NOTED(cublasDscal) KS_NOTED(cublasSasum) KS_NOTED(cublasDasum)
KS_NOTED(cublasIsamax) KS_NOTED(cublasIdamax) KS_NOTED(cublasScopy) KS_NOTED(cublasDcopy)
KS_NOTED(cublasSgeam) KS_NOTED(cublasDgeam) KS_NOTED(cublasSsyrk) KS_NOTED(cublasDsyrk)
KS_NOTED(cublasStrsm) KS_NOTED(cublasDtrsm) KS_NOTED(cublasSetVector) KS_NOTED(cublasGetVector)
KS_NOTED(cublasSetMatrix) KS_NOTED(cublasGetMatrix)
#undef KS_NOTED
#undef KS_QUIET
inline const char* cublasGetStatusString(cublasStatus_t) { return ""; }
