// One fibre a work-item: a stack of its own and a switch of six registers.
#pragma once
#include <stdint.h>

namespace ks {

// Saves the callee-saved registers and the stack pointer to *save, then continues where `load` was saved.
extern "C" void ks_switch(void** save, void* load);

constexpr uint64_t kStackBytes = 256 << 10;
constexpr uint64_t kGuardBytes = 64 << 10;

// The stacks of one worker thread. A stack is taken when a work-item starts and given back when it ends.
struct Stacks {
    uint8_t* base = nullptr;
    uint32_t count = 0, used = 0;
    uint32_t* free_list = nullptr;
    void reserve(uint32_t stacks);
    void reset();
    // The initial stack pointer of a fibre that will run `entry` (which never returns); `index` names the stack.
    void* start(void (*entry)(), uint32_t& index);
    void give_back(uint32_t index) { free_list[--used] = index; }
    bool holds(uint64_t address) const { return address - (uint64_t)base < count * (kStackBytes + kGuardBytes); }
    bool in_guard(uint64_t address) const {
        return holds(address) && (address - (uint64_t)base) % (kStackBytes + kGuardBytes) < kGuardBytes;
    }
};

}  // namespace ks
