#include "semantics.h"

#include <stdio.h>
#include <string.h>

namespace machine {

// Each is in the file of its name.
extern const SemanticsList kFloatSingle, kFloatHalf, kFloatDouble, kConversions, kTranscendental, kPacked, kEightBit;
extern const SemanticsList kIntegers, kBits, kIntegers64, kComparisons, kSelections, kCrossLane, kScalarIntegers,
    kScalarBits, kScalarComparisons, kControl;
extern const SemanticsList kMatrix, kSparseMatrix, kDotProducts;
extern const SemanticsList kScalarLoads, kGlobal, kBuffer, kTypedBuffers, kLds, kAtomics, kWaits, kExchanges;

static const SemanticsList* const g_lists[] = {
    &kFloatSingle,
    &kFloatHalf,
    &kFloatDouble,
    &kConversions,
    &kTranscendental,
    &kPacked,
    &kEightBit,
    &kIntegers,
    &kBits,
    &kIntegers64,
    &kComparisons,
    &kSelections,
    &kCrossLane,
    &kScalarIntegers,
    &kScalarBits,
    &kScalarComparisons,
    &kControl,
    &kMatrix,
    &kSparseMatrix,
    &kDotProducts,
    &kScalarLoads,
    &kGlobal,
    &kBuffer,
    &kTypedBuffers,
    &kLds,
    &kAtomics,
    &kWaits,
    &kExchanges,
};

Handler semantics_named(const char* name) {
    for (const SemanticsList* list : g_lists)
        for (uint32_t i = 0; i < list->count; i++)
            if (!strcmp(list->first[i].name, name)) return list->first[i].run;
    return nullptr;
}

void print_semantics() {
    for (const SemanticsList* list : g_lists)
        for (uint32_t i = 0; i < list->count; i++) puts(list->first[i].name);
}

}  // namespace machine
