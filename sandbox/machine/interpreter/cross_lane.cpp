// Instructions that move one lane's value to a scalar register, or a scalar to one lane.
#include "lanes.h"
#include "scalars.h"

namespace machine {

// Lane `lane` of a vector source; a scalar source is the same in each.
static void read_one(Wave& w, const Instruction& in, uint32_t lane, bool is_known, uint32_t lane_origin) {
    const Operand& from = in.source[0];
    Scalar value = {0, 0, kNowhere};
    if (from.kind == kVector)
        value = {w.v[from.index].lane[lane], known_bits(w.defined[from.index], (int)lane), w.origin[from.index]};
    else
        value = read_scalar(w, in, 0);
    const uint64_t defined = is_known ? value.defined : 0;
    const uint32_t origin = is_known ? value.origin : lane_origin;
    put_scalar(w, in.result[0], (uint32_t)value.value, defined, origin == kNowhere ? w.at : origin);
}

// The first lane that EXEC has set, or lane 0.
static void read_first_lane(Wave& w, const Instruction& in) {
    const uint64_t exec = w.exec();
    read_one(w, in, exec ? (uint32_t)__builtin_ctzll(exec) : 0, true, kNowhere);
}

// Any lane may be read. One that never wrote the register gives undefined bits.
static void read_lane(Wave& w, const Instruction& in) {
    const Scalar lane = scalar_source(w, in, 1);
    read_one(w, in, (uint32_t)lane.value & 63, (lane.defined & 63) == 63, lane.origin);
}

// EXEC does not count. An undefined lane number may have meant any lane.
static void write_lane(Wave& w, const Instruction& in) {
    const Operand& to = in.result[0];
    if (to.kind != kVector) return;
    const Scalar value = scalar_source(w, in, 0), lane = scalar_source(w, in, 1);
    const bool is_known = (lane.defined & 63) == 63;
    const uint64_t written = is_known ? 1ull << (lane.value & 63) : kAll;
    w.v[to.index].lane[lane.value & 63] = (uint32_t)value.value;
    const Defined defined = is_known ? scalar_bytes((uint32_t)value.defined) : Defined::of(0);
    set_defined(w, to.index, defined, written, is_known ? value.origin : lane.origin);
}

MACHINE_SEMANTICS(kCrossLane, {"readfirstlane_b32", read_first_lane}, {"readlane_b32", read_lane},
                  {"writelane_b32", write_lane})

}  // namespace machine
