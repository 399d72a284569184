// What the candidate's build reports by itself: alignment of the type accessed, lost bits of a ballot, masks of waves.
#include "shadow.h"

namespace ks {

struct TypeName {
    uint16_t kind, info;
    char text[];
};
struct Source {
    const char* file;
    uint32_t line, column;
};
struct Misfit {  // clang's record of a checked pointer
    Source source;
    const TypeName* type;
    uint8_t log_alignment, use;
};

static void report_here(Kind kind, uint64_t detail, bool write, uint64_t address, uint64_t place) {
    Finding finding = {};
    finding.kind = kind;
    finding.write = write;
    finding.detail = detail;
    finding.region = ~0u;
    if (address - kArena < g_memory.arena_bytes) locate(finding, address, kSpaceNear);
    describe_here(finding, place);
    add_finding(finding);
    abandon();
}

// Uses 0 to 5 are loads, stores, references, members and constructors; casts are no fault by themselves.
extern "C" void __ubsan_handle_type_mismatch_v1(const Misfit* data, uint64_t address) {
    if (data->use > 5) return;
    if (!address || !(address & ((1ull << data->log_alignment) - 1))) return;
    report_here(kMisaligned, 1ull << data->log_alignment, data->use == 1, address,
                (uint64_t)__builtin_return_address(0) - 1);
}

// A 64-bit value became narrower by itself and changed: a fault when it is the ballot this work-item got last.
extern "C" void __ubsan_handle_implicit_conversion(const void*, uint64_t before, uint64_t) {
    if (!t_hot.shadow || before != t_lane->ballot || !(before >> 32)) return;
    report_here(kWaveMask, 0, false, 0, (uint64_t)__builtin_return_address(0) - 1);
}

extern "C" void ks_mask(unsigned long mask) {
    if (!t_hot.shadow || mask >> t_lane->number & 1) return;
    report_here(kWaveMask, mask ? mask : 1, true, 0, (uint64_t)__builtin_return_address(0) - 1);
}

}  // namespace ks
