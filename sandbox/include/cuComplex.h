// CUDA's names for the functions of hip/hip_complex.h.
#pragma once
#include <hip/hip_complex.h>
typedef hipComplex cuComplex;
typedef hipFloatComplex cuFloatComplex;
typedef hipDoubleComplex cuDoubleComplex;
#define make_cuComplex make_hipComplex
#define make_cuFloatComplex make_hipFloatComplex
#define make_cuDoubleComplex make_hipDoubleComplex
#define cuComplexFloatToDouble hipComplexFloatToDouble
#define cuComplexDoubleToFloat hipComplexDoubleToFloat
#define cuCreal hipCreal
#define cuCimag hipCimag
#define cuCadd hipCadd
#define cuCsub hipCsub
#define cuCmul hipCmul
#define cuCdiv hipCdiv
#define cuCabs hipCabs
#define cuCfma hipCfma
#define cuConj hipConj
#define cuCrealf hipCrealf
#define cuCimagf hipCimagf
#define cuCaddf hipCaddf
#define cuCsubf hipCsubf
#define cuCmulf hipCmulf
#define cuCdivf hipCdivf
#define cuCabsf hipCabsf
#define cuCfmaf hipCfmaf
#define cuConjf hipConjf
