// The barrier of a workgroup, as fast as it can be left for the next work-item of the wave.
//
// The caller saves what it needs (preserve_none), so that a switch is little more than another stack pointer. When the
// next work-item waits at the same barrier, `ret` leads to it: the processor predicts a return to where it was called
// from. Else the jump is an indirect one, with a prediction of its own.
#include <stddef.h>

#include "workgroup.h"

namespace ks {

static_assert(offsetof(Lane, sp) == 0 && offsetof(Lane, wave) == 8 && offsetof(Lane, number) == 16 &&
                  offsetof(Lane, id) == 32 && offsetof(Lane, stack) == 48 && offsetof(Lane, apart) == 56 &&
                  sizeof(Lane) == 3 << 6,
              "as ks_barrier has it");
static_assert(offsetof(Wave, ready) == 0 && offsetof(Wave, barrier_site) == 8 && offsetof(Wave, lane) == 16 &&
                  offsetof(Wave, fresh) == 24,
              "as ks_barrier has it");
static_assert(offsetof(Worker, stacks) == 0 && offsetof(Stacks, next) == 0 && offsetof(Stacks, entry) == 8,
              "as ks_barrier has it");

asm(R"(
    .text
    .globl ks_barrier
    .type ks_barrier, @function
    .balign 64
ks_barrier:
    movq %fs:t_lane@tpoff, %rbx
    pushq %rbp
    movq %rsp, (%rbx)
    movq %fs:__safestack_unsafe_stack_ptr@tpoff, %rcx
    movq %rcx, 56(%rbx)
    movq %fs:t_wave@tpoff, %rcx
    movq 8(%rsp), %rax
    cmpq %rax, 8(%rcx)
    jne 2f
    movq (%rcx), %rsi
    tzcntq %rsi, %rdx
    jc 3f
    blsrq %rsi, %rsi
    leaq (%rdx,%rdx,2), %rdx
    shlq $6, %rdx
    addq 16(%rcx), %rdx
    cmpq %rbx, %rdx
    jb 2f
    movq %rsi, (%rcx)
    movq %rdx, %fs:t_lane@tpoff
    vmovups 32(%rdx), %xmm0
    vmovups %xmm0, %fs:ks_ids@tpoff
    movq 56(%rdx), %rsi
    movq %rsi, %fs:__safestack_unsafe_stack_ptr@tpoff
    movq (%rdx), %rsp
    popq %rbp
    cmpq %rax, (%rsp)
    jne 1f
    ret
3:
    movq 24(%rcx), %rsi
    tzcntq %rsi, %rdx
    jc 2f
    blsrq %rsi, %rsi
    movq %rsi, 24(%rcx)
    leaq (%rdx,%rdx,2), %rdx
    shlq $6, %rdx
    addq 16(%rcx), %rdx
    movq %rdx, %fs:t_lane@tpoff
    vmovups 32(%rdx), %xmm0
    vmovups %xmm0, %fs:ks_ids@tpoff
    movq %fs:_ZN2ks8t_workerE@tpoff, %rsi
    movq (%rsi), %rdi
    movq (%rdi), %rsp
    addq $8, %rdi
    movq %rdi, (%rsi)
    movq %rsp, 48(%rdx)
    movq 16(%rsp), %rcx
    movq %rcx, %fs:__safestack_unsafe_stack_ptr@tpoff
    addq $16, %rsp
    jmpq *8(%rsi)
2:
    andq $-16, %rsp
    call ks_at_barrier
    movq %rax, %rsp
    popq %rbp
1:
    popq %rcx
    jmpq *%rcx
    .size ks_barrier, .-ks_barrier
)");

}  // namespace ks
