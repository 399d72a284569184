// Symbolic values on their way through memory: a cell for each dword that was stored.
#include <string.h>

#include "symbolic.h"

namespace machine {

// The cell of this dword; of a new one the value is kConcrete. Null where there is none, or no room.
Symbolic::Cell* Symbolic::cell(uint64_t key, bool is_new) {
    for (uint64_t at = key * 0x9e3779b97f4a7c15ull >> (64 - kCellBits);; at = (at + 1) % kCells) {
        if (cell_[at].key == key) return &cell_[at];
        if (cell_[at].key) continue;
        if (!is_new || cells_ >= kCells / 2) return nullptr;
        cells_++;
        cell_[at] = {key, kConcrete, 0};
        return &cell_[at];
    }
}

void Symbolic::note_access(const Wave& wave, const Instruction& in, const Place& place, Access access, uint32_t bytes) {
    if (!place.host || in.result[0].kind == kScalar) return;
    is_opaque_ |= access == Access::atomic;  // what it gives back depends on who came before
    const uint32_t dwords = (bytes + 3) / 4;
    // Another part of the access: the next dwords, or the second element.
    if (loaded_at_ < kMostOutputs && loaded_[loaded_at_].lanes & place.lanes) loaded_at_ += loaded_step_;
    loaded_step_ = dwords;
    if (loaded_at_ + dwords > kMostOutputs) {
        is_opaque_ = true;
        return;
    }
    for (uint32_t d = 0; d < dwords; d++) loaded_[loaded_at_ + d].lanes |= place.lanes;
    if (access == Access::load)
        load(place, dwords, bytes >= 4);
    else
        store(wave, in, place, dwords, access == Access::store && bytes >= 4);
}

void Symbolic::load(const Place& place, uint32_t dwords, bool is_whole) {
    const bool holds_data = place.region && place.region->space == Space::buffer;
    for (uint32_t d = 0; d < dwords; d++) {
        Loaded& to = loaded_[loaded_at_ + d];
        for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
            const Cell* stored = cell((uint64_t)(place.host + place.offset[l] + 4 * d) >> 2, false);
            to.value[l] = stored ? stored->value : holds_data ? kOpaque : kConcrete;
            to.lane[l] = stored ? (uint8_t)stored->lane : 0;
            to.is_symbolic |= to.value[l] >= kFirstSymbolic;
            to.is_opaque |= to.value[l] == kOpaque || (to.value[l] && !is_whole);
        }
    }
}

void Symbolic::store(const Wave& wave, const Instruction& in, const Place& place, uint32_t dwords, bool is_whole) {
    const bool is_second = in.flags & kLocal && loaded_at_ && in.source[kSecondData].kind == kVector;
    const Operand& data = in.source[is_second ? kSecondData : kDataSource];
    const bool is_known = is_whole && !(in.flags & kToLds) && data.kind == kVector;
    for (uint32_t d = 0; d < dwords; d++) {
        const uint32_t from = data.index + d + (is_second ? 0 : loaded_at_);
        const ValueId value = is_known && from < (uint32_t)kRegisters ? at(wave, from) : kOpaque;
        for (uint64_t rest = place.lanes; rest; rest &= rest - 1) {
            const int l = __builtin_ctzll(rest);
            const bool is_new = value != kConcrete || place.region;
            if (Cell* to = cell((uint64_t)(place.host + place.offset[l] + 4 * d) >> 2, is_new))
                to->value = value, to->lane = (uint32_t)l;
        }
    }
}

void Symbolic::finish_load(const Wave& wave, const Instruction& in) {
    const Operand& to = in.result[0];
    if (to.kind != kVector) return;
    bool any_opaque = is_opaque_ || to.dwords > kMostOutputs;
    for (uint32_t d = 0; d < to.dwords && d < kMostOutputs; d++) any_opaque |= loaded_[d].is_opaque;
    if (any_opaque) return set_outputs(wave, in, kOpaque);
    if (is_symbolic_) return make_node(wave, in);
    for (uint32_t d = 0; d < to.dwords; d++)
        at(wave, to.index + d) = loaded_[d].is_symbolic ? gathered(wave, wave.v[to.index + d], loaded_[d]) : kConcrete;
}

ValueId Symbolic::gathered(const Wave& wave, const Vector& lanes, const Loaded& loaded) {
    bool is_same = loaded.lanes == kAll;
    for (int l = 0; l < kLanes && is_same; l++) is_same = loaded.value[l] == loaded.value[0] && loaded.lane[l] == l;
    if (is_same) return loaded.value[0];
    SymbolicNode* node = new_node(wave, SymbolicNode::gathered, 1, kLanes, 0);
    if (!node) return kOpaque;
    for (uint32_t l = 0; l < (uint32_t)kLanes; l++) {
        const bool is_symbolic = loaded.lanes >> l & 1 && loaded.value[l] >= kFirstSymbolic;
        input_[node->first_input + l] = {l, is_symbolic ? loaded.value[l] : kConcrete,
                                         is_symbolic ? loaded.lane[l] : lanes.lane[l]};
    }
    return node->value;
}

}  // namespace machine
