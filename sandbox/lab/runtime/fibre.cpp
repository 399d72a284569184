#include "fibre.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "request.h"

asm(R"(
    .text
    .globl ks_switch
    .type ks_switch, @function
ks_switch:
    pushq %rbp
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    popq %rbp
    ret
    .size ks_switch, .-ks_switch
)");

namespace ks {

void Stacks::reserve(uint32_t stacks) {
    uint64_t step = kStackBytes + kGuardBytes;
    void* place = mmap(nullptr, stacks * step, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no address space for the stacks of the work-items");
    base = (uint8_t*)place;
    count = stacks;
    free_list = (uint32_t*)malloc(stacks * sizeof(uint32_t));
    for (uint32_t i = 0; i < stacks; i++)
        if (mprotect(base + i * step + kGuardBytes, kStackBytes, PROT_READ | PROT_WRITE) != 0)
            die("no memory for the stacks of the work-items");
    reset();
}

void Stacks::reset() {
    used = 0;
    for (uint32_t i = 0; i < count; i++) free_list[i] = i;
}

void* Stacks::start(void (*entry)(), uint32_t& index) {
    index = free_list[used++];
    // Tops are staggered so that the hot lines of neighbouring work-items do not fall into one cache set.
    uint8_t* top = base + (index + 1) * (kStackBytes + kGuardBytes) - (index % 60) * 192;
    uint64_t* frame = (uint64_t*)((uint64_t)top & ~63ull);
    *--frame = 0;
    *--frame = (uint64_t)entry;  // at entry the stack pointer is 8 modulo 16, as after a call
    for (int i = 0; i < 6; i++) *--frame = 0;
    return frame;
}

}  // namespace ks
