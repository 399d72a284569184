// Exchanges between the lanes of a wave by way of the LDS hardware, which touch no LDS.
#include "memory_model.h"
#include "operands.h"
#include "places.h"
#include "report.h"

namespace machine {

namespace {

void finish(Wave& wave, const Instruction& in, Vector& values, const Defined& defined, uint32_t origin) {
    const Operand& to = in.result[0];
    blend(wave.v[to.index].lane, values.lane, wave.exec());
    set_defined(wave, to.index, defined, wave.exec(), origin);
    if (wave.group->worker->request->head.checks) wave.group->model.meet(wave, wave.exec());
    issue(wave, in, kCountsScalar);
}

// Lane l takes the value of lane from[l]; one that is masked off gives what nobody can rely on.
void gather(Wave& wave, const Instruction& in, const Source& data, const int* from, uint64_t uses) {
    Vector values = {};
    Defined defined = Defined::of(~uses & wave.exec());
    const uint64_t lanes = wave.exec();
    bool takes_none = false;
    for (int l = 0; l < kLanes; l++) {
        if (!(uses & lanes & 1ull << l)) continue;
        const int k = from[l] & 63;
        const bool is_active = lanes >> k & 1;
        takes_none |= !is_active;
        values.lane[l] = is_active ? data.lane[k] : 0;
        for (int b = 0; b < 4 && is_active; b++) defined.byte[b] |= (data.defined.byte[b] >> k & 1) << l;
    }
    finish(wave, in, values, defined, takes_none || data.origin == kNowhere ? wave.at : data.origin);
}

void check_known(Wave& wave, const Source& address) {
    const uint64_t undefined = wave.exec() & ~address.defined.whole();
    if (undefined) report_undefined(wave, undefined, address.origin);
}

// Pull: each lane names the lane it takes from, times 4.
void bpermute(Wave& wave, const Instruction& in) {
    Vector room_a, room_b;
    const Source address = read32(wave, in, 0, room_a), data = read32(wave, in, 1, room_b);
    check_known(wave, address);
    int from[kLanes];
    for (int l = 0; l < kLanes; l++) from[l] = (int)((address.lane[l] + (uint32_t)in.offset) >> 2 & 63);
    gather(wave, in, data, from, wave.exec());
}

// Push: each lane names the lane that its value goes to; the last one wins, and lanes that get none hold zeros.
void permute(Wave& wave, const Instruction& in) {
    Vector room_a, room_b;
    const Source address = read32(wave, in, 0, room_a), data = read32(wave, in, 1, room_b);
    check_known(wave, address);
    int from[kLanes] = {};
    uint64_t uses = 0;
    for (int l = 0; l < kLanes; l++) {
        if (!(wave.exec() >> l & 1)) continue;
        const int to = (int)((address.lane[l] + (uint32_t)in.offset) >> 2 & 63);
        from[to] = l;
        uses |= 1ull << to;
    }
    gather(wave, in, data, from, uses);
}

void swizzle(Wave& wave, const Instruction& in) {
    Vector room;
    const Source data = read32(wave, in, 0, room);
    const uint32_t pattern = in.control ? in.control : (uint32_t)in.offset & 0xffff;
    int from[kLanes];
    for (int l = 0; l < kLanes; l++) {
        const int half = l & 32, lane = l & 31;
        if (pattern >= 0xe000) {
            // The order of a Fourier transform: the lane's bits from the other end.
            const int mask = (int)(pattern & 31), mirrored = (int)(__builtin_bitreverse32((uint32_t)lane) >> 27);
            from[l] = half | mirrored >> __builtin_popcount((uint32_t)mask) | (lane & mask);
        } else if (pattern >= 0xc000) {
            const int mask = (int)(pattern & 31), by = (int)(pattern >> 5 & 31);
            const int turned = pattern >> 10 & 1 ? lane - by : lane + by;
            from[l] = half | (lane & mask) | (turned & ~mask & 31);
        } else if (pattern & 0x8000) {
            from[l] = (l & ~3) | (int)(pattern >> 2 * (l & 3) & 3);
        } else {
            const int keep = (int)(pattern & 31), set = (int)(pattern >> 5 & 31), turn = (int)(pattern >> 10 & 31);
            from[l] = half | (((lane & keep) | set) ^ turn);
        }
    }
    gather(wave, in, data, from, wave.exec());
}

void nothing(Wave&, const Instruction&) {}

}  // namespace

MACHINE_SEMANTICS(kExchanges, {"ds_bpermute_b32", bpermute}, {"ds_permute_b32", permute}, {"ds_swizzle_b32", swizzle},
                  {"ds_nop", nothing})

}  // namespace machine
