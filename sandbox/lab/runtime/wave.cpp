// A wave operation of a lane, but for those of the matrix cores: it waits until the others of its wave have come.
//
// A return is predicted to lead to where the last call came from, which was another lane's, often at another place. So
// the way back is an indirect jump, whose prediction goes by where those before it have led.
#include <stddef.h>

#include "workgroup.h"

namespace ks {

static_assert(offsetof(Lane, sp) == 0 && offsetof(Lane, a) == 72, "as ks_wave has it");

asm(R"(
    .text
    .globl ks_wave
    .type ks_wave, @function
    .balign 64
ks_wave:
    movq (%rsp), %rcx
    decq %rcx
    pushq %rbx
    pushq %r12
    pushq %r13
    pushq %r14
    pushq %r15
    leaq 1f(%rip), %rax
    pushq %rax
    pushq %rbp
    movq %fs:t_lane@tpoff, %rax
    movq %rsp, (%rax)
    call ks_wave_next
    movq %rax, %rsp
    popq %rbp
    popq %rax
    jmpq *%rax
1:
    popq %r15
    popq %r14
    popq %r13
    popq %r12
    popq %rbx
    movq %fs:t_lane@tpoff, %rax
    movq 72(%rax), %rax
    popq %rcx
    jmpq *%rcx
    .size ks_wave, .-ks_wave
)");

}  // namespace ks
