// The functions that instructions mean, by the names that sandbox/machine/instructions.tsv gives them.
#pragma once
#include "wave.h"

namespace machine {

using Handler = void (*)(Wave&, const Instruction&);

struct Semantics {
    const char* name;
    Handler run;
};

struct SemanticsList {
    const Semantics* first;
    uint32_t count;
};

// A list for each file of semantics; semantics.cpp knows them all.
Handler semantics_named(const char* name);  // null where there is none
void print_semantics();                     // every name, a line each

#define MACHINE_SEMANTICS(LIST, ...)                      \
    static const Semantics LIST##_rows[] = {__VA_ARGS__}; \
    extern const SemanticsList LIST;                      \
    const SemanticsList LIST = {LIST##_rows, sizeof LIST##_rows / sizeof LIST##_rows[0]};

}  // namespace machine
