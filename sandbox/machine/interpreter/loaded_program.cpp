#include "loaded_program.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "access_roles.h"

namespace machine {

void die(const char* message) {
    fprintf(stderr, "machine: %s\n", message);
    _exit(70);
}

namespace {

struct File {
    const uint8_t* at;
    uint64_t left;

    // The next bytes of the file, which must be there.
    const uint8_t* take(uint64_t count, uint64_t size) {
        if (size && count > left / size) die("the program is cut short");
        const uint8_t* here = at;
        at += count * size;
        left -= count * size;
        return here;
    }
};

File map_file(const char* path) {
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    struct stat about;
    if (file < 0 || fstat(file, &about) != 0) die("the program cannot be read");
    if (about.st_size < (int64_t)sizeof(ProgramHeader)) die("the program is cut short");
    void* place = mmap(nullptr, about.st_size, PROT_READ, MAP_PRIVATE | MAP_POPULATE, file, 0);
    if (place == MAP_FAILED) die("the program cannot be mapped");
    close(file);
    return {(const uint8_t*)place, (uint64_t)about.st_size};
}

bool is_operand(const Operand& operand) {
    if (operand.kind > kConstant || operand.dwords > 32 || operand.select > kWord1) return false;
    if (operand.kind == kNone || operand.kind == kConstant) return !operand.index;
    if (operand.kind == kVector) return operand.dwords && operand.index + operand.dwords <= kVectors;
    if (operand.kind == kScalar) return operand.dwords && operand.index + operand.dwords <= kScalars + 1;
    return false;
}

// A lane moves up to four registers, a scalar load up to sixteen.
constexpr uint32_t kMostLaneBytes = 16, kMostScalarBytes = 64;

void check_instruction(const Program& program, const Instruction& in, const char* names) {
    bool is_good = in.semantics < program.head.names && in.results <= 2 && in.sources <= 4;
    if (!is_good) die("the program has an instruction that is none");
    const bool is_scalar = !strncmp(names + in.semantics * kNameBytes, "s_", 2);
    is_good &= in.bytes <= (is_scalar ? kMostScalarBytes : kMostLaneBytes);
    for (const Operand& operand : in.result) is_good &= is_operand(operand) && operand.kind != kConstant;
    for (const Operand& operand : in.source) is_good &= is_operand(operand);
    is_good &= in.target == kNowhere || in.target < program.head.instructions;
    if (!is_good) die("the program has an instruction that is none");
}

bool is_exchange_named(const char* name) {
    static const char* const kNames[] = {"ds_bpermute_b32", "ds_permute_b32", "ds_swizzle_b32", "readlane_b32",
                                         "readfirstlane_b32"};
    for (const char* known : kNames)
        if (!strcmp(name, known)) return true;
    return false;
}

// What M0 chooses at run time may be any register.
bool may_index(const char* name) { return !strncmp(name, "s_set_gpr_idx", 13) || !strncmp(name, "s_setreg", 8); }

void count_registers(Program& program, const Instruction& in) {
    const auto count = [&](const Operand& operand) {
        if (operand.kind != kVector) return;
        const uint32_t end = operand.index + operand.dwords;
        const uint32_t accumulators = operand.index >= kFirstAccumulator ? end - kFirstAccumulator : 0;
        if (accumulators)
            program.accumulators = accumulators > program.accumulators ? accumulators : program.accumulators;
        else if (end <= kFirstAccumulator)
            program.vectors = end > program.vectors ? end : program.vectors;
        else
            program.vectors = program.accumulators = kFirstAccumulator;
    };
    for (const Operand& operand : in.result) count(operand);
    for (const Operand& operand : in.source) count(operand);
}

RegisterGroups touched_by(const Instruction& in) {
    RegisterGroups groups = {};
    const auto add = [&](const Operand& operand) {
        const uint32_t count = operand.dwords ? operand.dwords : 1;
        if (operand.kind == kVector) groups.add_vector(operand.index, count);
        if (operand.kind == kScalar) groups.add_scalar(operand.index, count);
    };
    for (uint32_t k = 0; k < in.sources && k < 4; k++) add(in.source[k]);
    for (uint32_t k = 0; k < in.results && k < 2; k++) add(in.result[k]);
    return groups;
}

void check_sections(const Program& program) {
    uint64_t end = 0;
    for (uint64_t i = 0; i < program.head.sections; i++) {
        const Section& section = program.sections[i];
        if (section.offset < end || section.size > program.head.data_bytes ||
            section.offset > program.head.data_bytes - section.size)
            die("the program has a section outside of its data");
        end = section.offset + section.size;
    }
}

void check_kernel(const Program& program, const Kernel& kernel) {
    if (kernel.entry >= program.head.instructions || kernel.lds_bytes > 65536 || kernel.scratch_bytes > (1 << 20) ||
        kernel.kernarg_bytes > 65536 || kernel.kernarg_preload > 16 || kernel.preload_offset > 65536)
        die("the program has a kernel that cannot be");
}

}  // namespace

void read_program(const char* path, Program& program) {
    File file = map_file(path);
    memcpy(&program.head, file.take(1, sizeof(ProgramHeader)), sizeof(ProgramHeader));
    const ProgramHeader& head = program.head;
    if (head.magic != kProgramMagic) die("the program has another format");
    if (head.names > kMaxNames || head.kernels > kMaxKernels || head.sections > kMaxSections ||
        head.data_bytes > kMaxData || !head.instructions || head.instructions > kMaxInstructions)
        die("the program is too large");
    const char* names = (const char*)file.take(head.names, kNameBytes);
    program.kernels = (const Kernel*)file.take(head.kernels, sizeof(Kernel));
    program.sections = (const Section*)file.take(head.sections, sizeof(Section));
    const uint8_t* data = file.take(head.data_bytes, 1);
    file.take(-head.data_bytes & 7, 1);
    program.code = (const Instruction*)file.take(head.instructions, sizeof(Instruction));
    check_sections(program);
    for (uint64_t i = 0; i < head.kernels; i++) check_kernel(program, program.kernels[i]);
    Handler* handlers = (Handler*)calloc(head.names + 1, sizeof(Handler));
    uint8_t* is_exchange = (uint8_t*)calloc(head.instructions, 1);
    uint8_t* exchanges = (uint8_t*)calloc(head.names + 1, 1);
    for (uint64_t i = 0; i < head.names; i++) {
        const char* name = names + i * kNameBytes;
        if (name[kNameBytes - 1]) die("the program has a name without an end");
        exchanges[i] = is_exchange_named(name);
        if (!(handlers[i] = semantics_named(name))) {
            fprintf(stderr, "machine: nothing executes %s\n", name);
            _exit(71);
        }
    }
    program.run = (Handler*)calloc(head.instructions, sizeof(Handler));
    program.data = (uint8_t*)malloc(head.data_bytes + 16);
    program.touched = (RegisterGroups*)calloc(head.instructions, sizeof(RegisterGroups));
    program.is_exchange = is_exchange;
    if (!handlers || !is_exchange || !exchanges || !program.run || !program.data || !program.touched)
        die("no memory for the program");
    memcpy(program.data, data, head.data_bytes);
    for (uint64_t i = 0; i < head.instructions; i++) {
        check_instruction(program, program.code[i], names);
        program.run[i] = handlers[program.code[i].semantics];
        program.touched[i] = touched_by(program.code[i]);
        is_exchange[i] = exchanges[program.code[i].semantics];
    }
    program.names = names;
    program.close_pairs = nullptr;
    program.vectors = 1;  // the hardware fills v0
    for (uint64_t i = 0; i < head.instructions; i++) count_registers(program, program.code[i]);
    for (uint64_t i = 0; i < head.names; i++)
        if (may_index(names + i * kNameBytes)) program.vectors = program.accumulators = kFirstAccumulator;
    program.role = find_roles(program, names);
    free(exchanges);
    free(handlers);
}

}  // namespace machine
