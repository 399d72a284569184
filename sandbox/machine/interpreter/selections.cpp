// Selections by a mask of lanes.
#include "lanes.h"

namespace machine {

// Source 1 in the lanes that source 2 has set, else source 0. Where the mask is undefined, equal bytes stay defined.
static void select(Wave& w, const Instruction& in) {
    Vector room[2], result;
    const Source no = read32(w, in, 0, room[0], As::f32), yes = read32(w, in, 1, room[1], As::f32);
    const Mask mask = read_mask(w, in, 2);
    choose_lanes(result.lane, yes.lane, no.lane, mask.lanes);
    Defined defined;
    for (int b = 0; b < 4; b++)
        defined.byte[b] = (yes.defined.byte[b] & mask.lanes) | (no.defined.byte[b] & ~mask.lanes);
    uint32_t origin = kNowhere;
    if (__builtin_expect(w.write_mask & ~mask.defined, 0)) {
        const Defined both = yes.defined & no.defined;
        for (int b = 0; b < 4; b++) {
            uint64_t same = 0;
            for (int l = 0; l < kLanes; l++) same |= (uint64_t)(!((yes.lane[l] ^ no.lane[l]) >> 8 * b & 255)) << l;
            defined.byte[b] &= mask.defined | (both.byte[b] & same);
        }
        origin = mask.origin;
    } else if (w.write_mask & ~defined.whole()) {
        origin = w.write_mask & mask.lanes & ~yes.defined.whole() ? yes.origin : no.origin;
    }
    write32(w, in, in.result[0], result, defined, origin, As::f32);
}

MACHINE_SEMANTICS(kSelections, {"cndmask_b32", select})

}  // namespace machine
