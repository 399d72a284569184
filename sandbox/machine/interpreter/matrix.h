// What the dense and the sparse matrix instructions share: shapes, places of elements, operands, definedness.
// Layouts: as AMD's matrix instruction calculator prints them for gfx942.
#pragma once
#include "matrix_elements.h"

namespace machine {

struct MatrixSettings {
    // Round as CDNA3's matrix cores do. Otherwise, types narrower than 32 bits and xf32: products in f32 (exact unless
    // they leave its range), added up along k from 0, each sum rounded to f32, then added to C. In either mode f32 and
    // f64 are chains of fused multiply-adds along k, from C on, and i8 wraps around. MODE changes nothing: rounding is
    // to the nearest even number, and subnormal numbers are kept.
    bool is_exact;
};
extern MatrixSettings g_matrix_settings;

constexpr int kMostRows = 32, kMostResults = 2048, kMostElements = 1024;

// D[blocks][m][m] = A[blocks][m][stored] B[blocks][k][m] + C
struct MatrixShape {
    Element a, b;
    int m, k, blocks;
    bool is_sparse, takes_cbsz, takes_blgp;

    constexpr int stored() const { return is_sparse ? k / 2 : k; }           // elements in a row of A
    constexpr int lane_a() const { return m * stored() * blocks / kLanes; }  // elements of a lane
    constexpr int lane_b() const { return m * k * blocks / kLanes; }
    constexpr int lane_d() const { return m * m * blocks / kLanes; }
    constexpr uint32_t registers_a() const { return (uint32_t)(lane_a() * element_bytes(a) + 3) / 4; }
    constexpr uint32_t registers_b() const { return (uint32_t)(lane_b() * element_bytes(b) + 3) / 4; }
    constexpr uint32_t registers_d() const { return (uint32_t)lane_d() * (a == Element::f64 ? 2 : 1); }
};

// Where row i of a block of C and D stands: m lanes of a register (f64: of a pair of registers).
struct ElementPlace {
    int at, lane;  // register, or pair
};
constexpr ElementPlace row_place(const MatrixShape& s, int block, int i) {
    if (s.a == Element::f64) return s.m == 4 ? ElementPlace{0, 16 * i + 4 * block} : ElementPlace{i / 4, 16 * (i % 4)};
    if (s.m == 32) return {16 * block + 4 * (i / 8) + i % 4, 32 * (i / 4 % 2)};
    if (s.m == 16) return {4 * block + i % 4, 16 * (i / 4)};
    return {i, 4 * block};
}

// The block and the row of A, or column of B, that a lane's registers hold.
constexpr int lane_block(const MatrixShape& s, int lane) {
    if (s.a == Element::f64 && s.m == 4) return lane / 4 % 4;
    return s.blocks > 1 ? lane / s.m : 0;
}
inline int block_of_a(const MatrixShape& s, const Instruction& in, int block) {
    const int group = s.is_sparse ? 1 : 1 << in.cbsz;
    return (block & ~(group - 1)) + (in.abid & (group - 1));
}

// Registers of a source with what is known of their bytes.
struct MatrixRegisters {
    const Vector* value;
    const Defined* defined;
    uint32_t origin;  // of the first register that is not wholly defined
};

struct MatrixOperands {
    MatrixRegisters a, b;
    const Vector* c;    // null: a constant
    uint64_t constant;  // C's bits then
    Vector moved[2];    // B's registers after BLGP
    Defined moved_defined[2];
    Vector kept[32];  // C's registers where D overlaps them in part
};

// Checks the operands against the shape and EXEC, and finds the sources. False: the instruction does nothing.
bool begin_matrix(Wave& w, const Instruction& in, const MatrixShape& s, MatrixOperands& o);

// Says of each element of D whether all elements that it is computed from are defined; before D is written.
// `chosen`: of a sparse instruction, else null.
void define_results(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o,
                    const uint8_t* chosen);

// All elements of A or B as floats, [block][k][row or column]: lanes of a group hold neighbours along k.
void gather_matrix(const MatrixShape& s, Element e, int lane_elements, const Vector* from, float* to);

inline uint8_t set_of_index(const MatrixShape& s, const Instruction& in) {
    const uint8_t mask = element_bytes(s.a) == 1 ? 1 : 3;
    return in.cbsz & mask ? 0 : in.abid & mask;
}

// A's elements that a sparse instruction keeps: which k of B goes with [stored][row].
void choose_elements(const MatrixShape& s, const Instruction& in, const Vector& index, uint8_t* chosen);

// D from all elements as floats, rounded as the matrix cores do; `chosen` is null where A is not sparse.
void multiply_exactly(const MatrixShape& s, const Instruction& in, const float* a, const float* b,
                      const uint8_t* chosen, float* d);

// Copies C to d[block][i][j] and D back to its registers.
void read_rows(const MatrixShape& s, const MatrixOperands& o, float* d);
void write_rows(Wave& w, const Instruction& in, const MatrixShape& s, const float* d);

}  // namespace machine
