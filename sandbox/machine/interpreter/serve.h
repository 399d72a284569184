// Requests of one program, one after the other: each is executed by a process of its own, forked from one that has read
// the program.
#pragma once
#include <stdint.h>

namespace machine {

// What is read from the standard input for each request, which lies in the folder by then.
struct ServeOrder {
    uint64_t cpu_s;   // seconds of processor time, after which the process is ended
    char inputs[56];  // name of the file of inputs; empty: there is none
};

// Reads orders until there are no more; `execute` is called in the new process with the inputs' path or null, and does
// not return. The answer to each is a line "ended exit|signal CODE CPU_US", as the launcher has it.
int serve(const char* inputs, void (*execute)(const char* path));

}  // namespace machine
