// One fibre a work-item: a stack of its own and a switch of six registers.
//
// What waits lies on its stack as two words, lowest first: the frame pointer, then where it goes on. Whoever continues
// it pops the first and jumps to the second.
#pragma once
#include <stdint.h>

namespace ks {

// Saves the callee-saved registers and the stack pointer to *save, then continues where `load` was saved.
extern "C" void ks_switch(void** save, void* load);

constexpr uint64_t kStackBytes = 256 << 10;
constexpr uint64_t kGuardBytes = 64 << 10;

// The stacks of one worker thread. A stack is taken when a work-item starts and given back when it ends.
struct Stacks {
    void** next;      // the free one to take next: a stack pointer
    void (*entry)();  // what a fibre runs; it never returns
    void** all;
    uint8_t* base;
    uint32_t count;
    void reserve(uint32_t stacks);
    void reset();
    void touch() const {
        for (uint32_t i = 0; i < count; i++) *(uint64_t*)all[i] = 0;
    }  // a page of each
    bool in_use() const { return next != all; }
    void* start() {
        void** sp = (void**)*next++;
        sp[1] = (void*)entry;
        return sp;
    }
    void give_back(void* sp) { *--next = sp; }
    bool holds(uint64_t address) const { return address - (uint64_t)base < count * (kStackBytes + kGuardBytes); }
    bool in_guard(uint64_t address) const {
        return holds(address) && (address - (uint64_t)base) % (kStackBytes + kGuardBytes) < kGuardBytes;
    }
};

}  // namespace ks
