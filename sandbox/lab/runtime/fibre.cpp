#include "fibre.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "request.h"

asm(R"(
    .text
    .globl ks_switch
    .type ks_switch, @function
ks_switch:
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    leaq 1f(%rip), %rax
    pushq %rax
    pushq %rbp
    movq %rsp, (%rdi)
    movq %rsi, %rsp
    popq %rbp
    popq %rax
    jmpq *%rax
1:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    ret
    .size ks_switch, .-ks_switch
    .globl ks_leave
    .type ks_leave, @function
ks_leave:
    movq %rdi, %rsp
    popq %rbp
    popq %rcx
    jmpq *%rcx
    .size ks_leave, .-ks_leave
)");

namespace ks {

// Markers in the page tables (Linux 6.13) cost a fifth of a mapping of its own for each guard.
static void guard(uint8_t* low) {
    constexpr int kInstall = 102;  // MADV_GUARD_INSTALL
    if (madvise(low, kGuardBytes, kInstall) != 0 && mprotect(low, kGuardBytes, PROT_NONE) != 0)
        die("no guards for the stacks of the work-items");
}

void Stacks::reserve(uint32_t stacks) {
    constexpr int kReadWrite = PROT_READ | PROT_WRITE;
    uint64_t step = kStackBytes + kGuardBytes;
    void* place = mmap(nullptr, stacks * step, kReadWrite, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no address space for the stacks of the work-items");
    base = (uint8_t*)place;
    count = stacks;
    uint64_t bytes = stacks * kApartBytes;
    place = mmap(nullptr, kApartGuard + bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) die("no address space for the stacks of the work-items");
    apart = (uint8_t*)place + kApartGuard;
    if (mprotect(apart, bytes, kReadWrite) != 0) die("no memory for the stacks of the work-items");
    all = (void**)malloc(stacks * sizeof(void*));
    for (uint32_t i = 0; i < stacks; i++) guard(base + i * step);
    reset();
}

void Stacks::reset() {
    next = all;
    for (uint32_t i = 0; i < count; i++) {
        // Tops are staggered so that the hot lines of neighbouring work-items do not fall into one cache set.
        uint8_t* top = base + (i + 1) * (kStackBytes + kGuardBytes) - (i % 60) * 192;
        all[i] = top - 24;  // behind the two words the stack pointer is 8 modulo 16, as after a call
        ((void**)all[i])[2] = apart + (i + 1) * kApartBytes - kApartSlack - i % 60 * 192;  // nobody returns there
    }
}

}  // namespace ks
