// One fibre a work-item: a stack of its own and a switch of six registers.
//
// What waits lies on its stack as two words, lowest first: the frame pointer, then where it goes on. Whoever continues
// it pops the first and jumps to the second.
//
// Each has a second stack apart (LLVM's safe-stack pass): whatever a pointer of the candidate can reach lies there, return
// addresses and saved registers do not. Below these stacks lies more nothing than calls can go down without touching it.
#pragma once
#include <stdint.h>

namespace ks {

// Saves the callee-saved registers and the stack pointer to *save, then continues where `load` was saved.
extern "C" void ks_switch(void** save, void* load);

constexpr uint64_t kStackBytes = 256 << 10;
constexpr uint64_t kGuardBytes = 64 << 10;
constexpr uint64_t kApartBytes = 256 << 10;    // of a stack apart
constexpr uint64_t kApartSlack = 512;          // above its top, so that a matrix operand at the top ends inside
constexpr uint64_t kApartGuard = 16ull << 30;  // below all of them: 16 Ki frames, each of 1 MiB at most

// The stacks of one worker thread. A stack is taken when a work-item starts and given back when it ends.
struct Stacks {
    void** next;      // the free one to take next: a stack pointer
    void (*entry)();  // what a fibre runs; it never returns
    void** all;
    uint8_t *base, *apart;
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
    bool holds_apart(uint64_t address) const {
        return address - ((uint64_t)apart - kApartGuard) < kApartGuard + count * kApartBytes;
    }
    bool holds(uint64_t address) const { return address - (uint64_t)base < count * (kStackBytes + kGuardBytes); }
    bool in_guard(uint64_t address) const {
        return holds(address) && (address - (uint64_t)base) % (kStackBytes + kGuardBytes) < kGuardBytes;
    }
};

}  // namespace ks
