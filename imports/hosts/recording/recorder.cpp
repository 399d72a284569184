// Notes what a host half does: one line of text an event, in the order of the calls. Nothing is computed here.
// It needs the C library alone.
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "hip/ks_plain_types.h"

extern "C" char* __cxa_demangle(const char* name, char* buffer, size_t* length, int* status);

namespace {
constexpr long most_launches = 1 << 14;
constexpr size_t most_looked_at = size_t(1) << 20, most_copied = size_t(1) << 24;

template <class T> struct Rows {
    T* rows = nullptr;
    size_t count = 0, room = 0;
    T& add(const T& row) {
        if (count == room) rows = (T*)realloc(rows, (room = 2 * room + 16) * sizeof(T));
        return rows[count++] = row;
    }
    T* begin() { return rows; }
    T* end() { return rows + count; }
};

struct Block {
    uintptr_t start;
    size_t bytes;
    int number;
    bool is_summed;
    const char* kind;
};

struct Parameters {
    char* name;
    int count;
    size_t* sizes;
};

struct Kernel {
    const void* stub;
    const char* name;
    const Parameters* parameters;
};

struct Symbol {
    const void* place;
    const char* name;
    size_t bytes;
};

struct Size {
    int index;
    long value;
};

struct State {
    FILE* file = nullptr;
    Rows<Block> blocks;
    Rows<Kernel> kernels;
    Rows<Symbol> symbols;
    Rows<Parameters> parameters;
    Rows<Size> sizes;
    long launches = 0;
    ks_dim3 grid{1, 1, 1}, block{1, 1, 1};
    size_t lds = 0;
    void* stream = nullptr;
};

void read_parameters(State& s) {
    FILE* table = fopen("parameters.txt", "r");
    if (!table) return;
    char name[8192];
    int count;
    while (fscanf(table, "%8191s %d", name, &count) == 2) {
        Parameters row{strdup(name), count, (size_t*)calloc(count + 1, sizeof(size_t))};
        for (int i = 0; i < count && fscanf(table, "%zu", &row.sizes[i]) == 1; ++i) {}
        s.parameters.add(row);
    }
    fclose(table);
}

void read_sizes(State& s) {
    const char* at = getenv("KS_SIZES");
    while (at && *at) {
        char* end;
        const long index = strtol(at, &end, 10);
        if (*end != '=') break;
        s.sizes.add({int(index), strtol(end + 1, &end, 10)});
        at = *end ? end + 1 : end;
    }
}

State& state() {
    static State* only = nullptr;
    if (!only) {
        static State first;
        only = &first;
        only->file = fopen("record.txt", "w");
        setvbuf(only->file, nullptr, _IOLBF, 1 << 16);  // what a killed program has done is there to be read
        read_parameters(*only);
        read_sizes(*only);
    }
    return *only;
}

void print_hex(const void* data, size_t bytes) {
    for (size_t i = 0; i < bytes; ++i) fprintf(state().file, "%02x", ((const unsigned char*)data)[i]);
}

Block* block_of(const void* place) {
    for (Block* block = state().blocks.end(); block-- > state().blocks.begin();)
        if ((uintptr_t)place >= block->start && (uintptr_t)place < block->start + (block->bytes ? block->bytes : 1))
            return block;
    return nullptr;
}

const Symbol* symbol_of(const void* place) {
    for (const Symbol& symbol : state().symbols)
        if (symbol.place == place) return &symbol;
    return nullptr;
}

template <class T> void range_of(const char* name, const void* data, size_t bytes) {
    const T* values = (const T*)data;
    const size_t count = (bytes < most_looked_at ? bytes : most_looked_at) / sizeof(T);
    if (!count) return;
    T low = values[0], high = values[0];
    size_t zeros = 0, odd = 0;
    for (size_t i = 0; i < count; ++i) {
        if (values[i] != values[i]) ++odd;
        if (values[i] < low) low = values[i];
        if (values[i] > high) high = values[i];
        if (values[i] == 0) ++zeros;
    }
    fprintf(state().file, " %s %.17g %.17g", name, (double)low, (double)high);
}

// The least and largest of a buffer's values, read as each type that it may have.
void sum_up(Block& block) {
    if (block.is_summed || !strcmp(block.kind, "launcher")) return;
    block.is_summed = true;
    const void* data = (const void*)block.start;
    const size_t bytes = block.bytes;
    fprintf(state().file, "values %d", block.number);
    range_of<double>("f64", data, bytes), range_of<float>("f32", data, bytes), range_of<int64_t>("i64", data, bytes);
    range_of<int32_t>("i32", data, bytes), range_of<int16_t>("i16", data, bytes), range_of<int8_t>("i8", data, bytes);
    range_of<uint8_t>("u8", data, bytes), range_of<_Float16>("f16", data, bytes);
    fprintf(state().file, "\n");
}

void note_block(void* place, size_t bytes, const char* kind, const char* words) {
    const int number = int(state().blocks.count);
    state().blocks.add({(uintptr_t)place, bytes, number, false, strdup(kind)});
    fprintf(state().file, "block %d %zu %zu %s %s\n", number, (size_t)place, bytes, kind, words);
}

void* new_block(size_t bytes, const char* kind, const char* words) {
    const size_t room = ((bytes ? bytes : 1) + 8191) / 4096 * 4096;  // a page behind each block keeps them apart
    void* place = mmap(nullptr, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (place == MAP_FAILED) {
        fprintf(state().file, "memory %zu\n", bytes);
        _exit(0);
    }
    note_block(place, bytes, kind, words);
    return place;
}

int number_of(const Block* block) { return block ? block->number : -1; }

size_t offset_in(const Block* block, const void* place) { return block ? (uintptr_t)place - block->start : 0; }
}  // namespace

extern "C" {
void ks_library(const char* name) { fprintf(state().file, "library %s\n", name); }

long ks_size(int index, long value) {
    for (const Size& size : state().sizes)
        if (size.index == index) return size.value;
    return value;
}

int ks_malloc(void** place, size_t bytes, const char* kind, const char* words) {
    if (!strcmp(kind, "registered"))
        note_block(*place, bytes, kind, words);
    else
        *place = new_block(bytes, kind, words);
    return 0;
}

void* ks_given(size_t bytes, const char* name) { return new_block(bytes, "launcher", name); }

int ks_free(void* place) {
    Block* block = place ? block_of(place) : nullptr;
    if (block && block->start == (uintptr_t)place) {
        fprintf(state().file, "free %d\n", block->number);
        if (strcmp(block->kind, "registered")) madvise(place, (block->bytes + 4095) / 4096 * 4096, MADV_DONTNEED);
    }
    return 0;
}

int ks_copy(void* to, const void* from, size_t bytes, const char* to_words, const char* from_words) {
    Block *target = block_of(to), *source = block_of(from);
    fprintf(state().file, "copy %d %zu %d %zu %zu %s | %s\n", number_of(target), offset_in(target, to),
            number_of(source), offset_in(source, from), bytes, to_words, from_words);
    if (target && (uintptr_t)to + bytes > target->start + target->bytes) return 0;
    memcpy(to, from, bytes < most_copied ? bytes : most_copied);  // no kernel runs that would need the rest
    if (target) target->is_summed = false;
    return 0;
}

int ks_fill(void* place, int byte, size_t bytes) {
    Block* block = block_of(place);
    fprintf(state().file, "fill %d %zu %zu 1 %d\n", number_of(block), offset_in(block, place), bytes, byte & 255);
    if (block && (uintptr_t)place + bytes <= block->start + block->bytes) memset(place, byte, bytes < most_copied ? bytes : most_copied);
    return 0;
}

int ks_fill_words(void* place, unsigned value, size_t count, size_t width) {
    Block* block = block_of(place);
    fprintf(state().file, "fill %d %zu %zu %zu %u\n", number_of(block), offset_in(block, place), count * width, width,
            value);
    return 0;
}

int ks_symbol(const void* place, const void* from, size_t bytes, size_t offset) {
    const Symbol* symbol = symbol_of(place);
    Block* source = block_of(from);
    fprintf(state().file, "symbol %s %zu %zu %d %zu ", symbol ? symbol->name : "?", offset, bytes, number_of(source),
            offset_in(source, from));
    print_hex(from, bytes < 4096 ? bytes : 4096);
    fprintf(state().file, "\n");
    return 0;
}

int ks_from_symbol(void* to, const void* place, size_t bytes, size_t offset) {
    const Symbol* symbol = symbol_of(place);
    fprintf(state().file, "fromsymbol %s %zu %zu\n", symbol ? symbol->name : "?", offset, bytes);
    memset(to, 0, bytes);
    return 0;
}

int ks_symbol_address(void** address, const void* place) {
    const Symbol* symbol = symbol_of(place);
    *address = new_block(symbol ? symbol->bytes : 4096, "symbol", symbol ? symbol->name : "?");
    return 0;
}

int __hipPushCallConfiguration(ks_dim3 grid, ks_dim3 block, size_t lds, void* stream) {
    State& s = state();
    s.grid = grid, s.block = block, s.lds = lds, s.stream = stream;
    return 0;
}

int __hipPopCallConfiguration(ks_dim3* grid, ks_dim3* block, size_t* lds, void** stream) {
    State& s = state();
    *grid = s.grid, *block = s.block, *lds = s.lds, *stream = s.stream;
    return 0;
}

int hipLaunchKernel(const void* stub, ks_dim3 grid, ks_dim3 block, void** arguments, size_t lds, void*) {
    State& s = state();
    if (++s.launches > most_launches) {
        fprintf(s.file, "cut\n");
        _exit(0);
    }
    const Kernel* kernel = nullptr;
    for (const Kernel& row : s.kernels)
        if (row.stub == stub) kernel = &row;
    if (!kernel || !kernel->parameters) {
        fprintf(s.file, "unknown %s\n", kernel ? kernel->name : "");
        return 0;
    }
    const Parameters& p = *kernel->parameters;
    for (int i = 0; i < p.count; ++i)
        for (size_t at = 0; at + 8 <= p.sizes[i]; at += 8) {
            void* place;
            memcpy(&place, (char*)arguments[i] + at, 8);
            if (Block* handed = block_of(place)) sum_up(*handed);
        }
    fprintf(s.file, "launch %s %u %u %u %u %u %u %zu", kernel->name, grid.x, grid.y, grid.z, block.x, block.y, block.z,
            lds);
    for (int i = 0; i < p.count; ++i) {
        fprintf(s.file, " ");
        print_hex(arguments[i], p.sizes[i]);
    }
    fprintf(s.file, "\n");
    return 0;
}

void** __hipRegisterFatBinary(const void*) {
    static void* handle;
    return &handle;
}

void __hipUnregisterFatBinary(void**) {}

void __hipRegisterFunction(void**, const void* stub, char*, const char* name, unsigned, void*, void*, void*, void*,
                           int*) {
    const Parameters* parameters = nullptr;
    for (const Parameters& row : state().parameters)
        if (!strcmp(row.name, name)) parameters = &row;
    state().kernels.add({stub, name, parameters});
    int status = 1;
    char* words = __cxa_demangle(name, nullptr, nullptr, &status);
    fprintf(state().file, "kernel %s %s\n", name, status ? name : words);
    free(words);
}

void __hipRegisterVar(void**, void* variable, char*, const char* name, int, size_t bytes, int, int) {
    state().symbols.add({variable, name, bytes});
    fprintf(state().file, "variable %s %zu %zu\n", name, (size_t)variable, bytes);
}

void __hipRegisterManagedVar(void**, void** place, void* initial, const char* name, size_t bytes, unsigned) {
    *place = new_block(bytes, "managed", name);
    if (initial) memcpy(*place, initial, bytes);
}

int ks_attribute(int attribute) {
    static const int values[] = {64,    304,     1024,    65536, 65536, 65536, 2048, 1,    1,    1,    0,     1, 1,
                                 1,     2100000, 2600000, 8192,  100000, 9,    4,    1024, 1024, 1024, 2147483647,
                                 65536, 65536,   65536,   4194304};
    return attribute >= 0 && attribute < int(sizeof values / sizeof *values) ? values[attribute] : 0;
}
}
