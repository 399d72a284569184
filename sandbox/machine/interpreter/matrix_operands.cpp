// Operands of matrix instructions: what is checked, where they lie, and what is defined of the result.
#include "matrix.h"
#include "report.h"

namespace machine {

MatrixSettings g_matrix_settings;

static bool is_register(const Operand& operand, uint32_t dwords) {
    return operand.kind == kVector && operand.dwords == dwords && operand.index + dwords <= kVectors;
}

static bool fits(const Instruction& in, const MatrixShape& s) {
    const uint32_t d = s.registers_d();
    if (in.results < 1 || in.sources < 3 || !is_register(in.result[0], d)) return false;
    if (!is_register(in.source[0], s.registers_a()) || !is_register(in.source[1], s.registers_b())) return false;
    if (!is_register(in.source[2], d) && (s.is_sparse || in.source[2].kind != kConstant)) return false;
    if (s.is_sparse) return in.sources == 4 && is_register(in.source[3], 1) && !in.blgp && in.cbsz < 4 && in.abid < 4;
    if (in.cbsz > 4 || (!s.takes_cbsz && (in.cbsz || in.abid)) || 1 << in.cbsz > s.blocks) return false;
    return in.blgp < 8 && (s.takes_blgp || !in.blgp);
}

static MatrixRegisters registers(const Wave& w, uint32_t index, uint32_t count) {
    MatrixRegisters found = {&w.v[index], &w.defined[index], kNowhere};
    for (uint32_t r = count; r-- > 0;)
        if (w.defined[index + r].whole() != kAll) found.origin = w.origin[index + r];
    return found;
}

// Which lane's register stands in for lane l of B.
static int moved_lane(uint32_t blgp, int l) {
    if (blgp >= 4) return 16 * ((int)blgp - 4) + l % 16;
    if (blgp == 3) return (l + 16) % 64;
    return blgp == 2 ? 32 + l % 32 : l % 32;
}

static void move_lanes(MatrixOperands& o, uint32_t blgp, uint32_t count) {
    for (uint32_t r = 0; r < count; r++) {
        Defined& defined = o.moved_defined[r] = {};
        for (int l = 0; l < kLanes; l++) {
            const int from = moved_lane(blgp, l);
            o.moved[r].lane[l] = o.b.value[r].lane[from];
            for (int byte = 0; byte < 4; byte++) defined.byte[byte] |= (o.b.defined[r].byte[byte] >> from & 1) << l;
        }
    }
    o.b.value = o.moved;
    o.b.defined = o.moved_defined;
}

bool begin_matrix(Wave& w, const Instruction& in, const MatrixShape& s, MatrixOperands& o) {
    if (!fits(in, s)) {
        report(w, kIllegal, w.exec());
        return false;
    }
    // The compiler lets short regions run with an empty EXEC, and the hardware skips vector instructions there.
    const uint64_t exec = w.exec();
    if (!exec) return false;
    if (const uint64_t absent = ~exec) report(w, kDivergentCollective, absent, exec);
    o.a = registers(w, in.source[0].index, s.registers_a());
    o.b = registers(w, in.source[1].index, s.registers_b());
    const bool moves_b = in.blgp && s.a != Element::f64;
    if (moves_b) move_lanes(o, in.blgp, s.registers_b());
    const Operand& c = in.source[2];
    o.c = nullptr;
    o.constant = c.bits;
    if (c.kind != kVector) return true;
    const uint32_t d = s.registers_d(), from = c.index, to = in.result[0].index;
    o.c = &w.v[from];
    if (from != to && from < to + d && to < from + d) {
        memcpy(o.kept, &w.v[from], d * sizeof(Vector));
        o.c = o.kept;
    }
    return true;
}

namespace {

// What is defined of each row of A or column of B: a bit for each, by block.
struct Known {
    uint32_t of[16];
};

struct Results {
    uint64_t lanes[32];  // of each register or pair
    uint32_t origin[32];
};

}  // namespace

static Known known_rows(const MatrixShape& s, uint64_t lanes) {
    Known known;
    for (uint32_t& rows : known.of) rows = ~0u;
    for (int l = 0; l < kLanes; l++)
        if (!(lanes >> l & 1)) known.of[lane_block(s, l)] &= ~(1u << l % s.m);
    return known;
}

static uint64_t whole_lanes(const Defined* registers, uint32_t count) {
    uint64_t lanes = kAll;
    for (uint32_t r = 0; r < count; r++) lanes &= registers[r].whole();
    return lanes;
}

// The lanes whose part of the index register is defined.
static uint64_t index_lanes(const MatrixShape& s, const Instruction& in, const Defined& index) {
    const uint8_t set = set_of_index(s, in);
    if (element_bytes(s.a) == 1) return index.byte[2 * set] & index.byte[2 * set + 1];
    return index.byte[set];
}

// Columns of B of which all elements that row i asks for are defined.
static uint32_t chosen_columns(const MatrixShape& s, const MatrixRegisters& b, const uint8_t* chosen, int i) {
    const int bytes = element_bytes(s.b), lane_b = s.lane_b();
    uint32_t columns = ~0u;
    for (int k = 0; k < s.stored(); k++) {
        const int from = chosen[k * s.m + i], first = from % lane_b * bytes;
        for (int byte = first; byte < first + bytes; byte++)
            columns &= (uint32_t)(b.defined[byte / 4].byte[byte % 4] >> (from / lane_b * s.m));
    }
    return columns;
}

static void define_row(Wave& w, const Instruction& in, const MatrixShape& s, ElementPlace place, const uint64_t* of_c,
                       uint32_t columns, uint32_t from, Results& results) {
    const uint64_t row = (s.m == 32 ? ~0u : (1u << s.m) - 1), wide = row << place.lane;
    const uint64_t defined = (columns & row) << place.lane & of_c[place.at];
    results.lanes[place.at] = (results.lanes[place.at] & ~wide) | (defined & wide);
    if ((defined & wide) == wide || results.origin[place.at] != kNowhere) return;
    if ((columns & row) == row) {
        const uint32_t of_pair = s.registers_d() / (uint32_t)s.lane_d();
        const uint32_t first = in.source[2].index + (uint32_t)place.at * of_pair, last = first + of_pair - 1;
        from = w.origin[w.defined[first].whole() != kAll ? first : last];
    }
    results.origin[place.at] = from != kNowhere ? from : w.at;
}

static Defined all_of(const Defined* registers, uint32_t count) {
    Defined all = registers[0];
    for (uint32_t r = 1; r < count; r++) all = all & registers[r];
    return all;
}

static bool is_all_defined(const Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o) {
    Defined all = all_of(o.a.defined, s.registers_a()) & all_of(o.b.defined, s.registers_b());
    if (in.source[2].kind == kVector) all = all & all_of(&w.defined[in.source[2].index], s.registers_d());
    if (s.is_sparse) all = all & w.defined[in.source[3].index];
    return all.whole() == kAll;
}

static void define_some(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o,
                        const uint8_t* chosen) {
    const uint32_t count = s.registers_d(), of_pair = count / (uint32_t)s.lane_d();
    const uint64_t of_a = whole_lanes(o.a.defined, s.registers_a());
    const uint64_t of_index = chosen ? index_lanes(s, in, w.defined[in.source[3].index]) : kAll;
    const Known rows = known_rows(s, of_a & of_index);
    const Known columns = known_rows(s, whole_lanes(o.b.defined, s.registers_b()));
    const uint32_t of_rows = of_a != kAll ? o.a.origin : chosen ? w.origin[in.source[3].index] : kNowhere;
    uint64_t of_c[32];
    Results results;
    for (uint32_t r = 0; r < (uint32_t)s.lane_d(); r++) {
        const Operand& c = in.source[2];
        of_c[r] = c.kind == kVector ? whole_lanes(&w.defined[c.index + r * of_pair], of_pair) : kAll;
        results.lanes[r] = kAll;
        results.origin[r] = kNowhere;
    }
    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < s.m; i++) {
            const bool is_known = rows.of[block_of_a(s, in, block)] >> i & 1;
            uint32_t wanted = is_known ? columns.of[block] : 0;
            if (is_known && chosen) wanted = chosen_columns(s, o.b, chosen, i);
            define_row(w, in, s, row_place(s, block, i), of_c, wanted, is_known ? o.b.origin : of_rows, results);
        }
    for (uint32_t r = 0; r < count; r++) {
        const uint32_t to = in.result[0].index + r;
        w.defined[to] = Defined::of(results.lanes[r / of_pair]);
        if (results.lanes[r / of_pair] != kAll) w.origin[to] = results.origin[r / of_pair];
    }
}

void define_results(Wave& w, const Instruction& in, const MatrixShape& s, const MatrixOperands& o,
                    const uint8_t* chosen) {
    if (__builtin_expect(!is_all_defined(w, in, s, o), 0)) return define_some(w, in, s, o, chosen);
    const uint32_t first = in.result[0].index;
    for (uint32_t r = first; r < first + s.registers_d(); r++) w.defined[r] = Defined::of(kAll);
}

// Registers of A or B as floats. Every layout but f64's is one: a lane's group gives its place along k, or its block.
template <Element E, int M, int kShift>
static void gather_elements(const uint32_t* lane, int lane_elements, float* to) {
    alignas(64) float values[kLanes];
    for (int l = 0; l < kLanes; l++) values[l] = element_value<E, kShift>(lane[l]);
    for (int group = 0; group < kLanes / M; group++)
        memcpy(to + lane_elements * group * M, values + group * M, sizeof(float) * M);
}

template <Element E, int M> static void gather_lanes(int lane_elements, const Vector* from, float* to) {
    constexpr int kBits = 8 * element_bytes(E);
    for (int e = 0; e < lane_elements; from++) {
        gather_elements<E, M, 0>(from->lane, lane_elements, to + e++ * M);
        if constexpr (kBits <= 16) gather_elements<E, M, kBits>(from->lane, lane_elements, to + e++ * M);
        if constexpr (kBits == 8) {
            gather_elements<E, M, 16>(from->lane, lane_elements, to + e++ * M);
            gather_elements<E, M, 24>(from->lane, lane_elements, to + e++ * M);
        }
    }
}

template <Element E> static void gather_rows(int m, int lane_elements, const Vector* from, float* to) {
    if (m == 32) return gather_lanes<E, 32>(lane_elements, from, to);
    if (m == 16) return gather_lanes<E, 16>(lane_elements, from, to);
    gather_lanes<E, 4>(lane_elements, from, to);
}

void gather_matrix(const MatrixShape& s, Element e, int lane_elements, const Vector* from, float* to) {
    switch (e) {
    case Element::f32:
        return gather_rows<Element::f32>(s.m, lane_elements, from, to);
    case Element::xf32:
        return gather_rows<Element::xf32>(s.m, lane_elements, from, to);
    case Element::f16:
        return gather_rows<Element::f16>(s.m, lane_elements, from, to);
    case Element::bf16:
        return gather_rows<Element::bf16>(s.m, lane_elements, from, to);
    case Element::i8:
        return gather_rows<Element::i8>(s.m, lane_elements, from, to);
    case Element::fp8:
        return gather_rows<Element::fp8>(s.m, lane_elements, from, to);
    case Element::bf8:
        return gather_rows<Element::bf8>(s.m, lane_elements, from, to);
    case Element::f64:
        return;
    }
}

void choose_elements(const MatrixShape& s, const Instruction& in, const Vector& index, uint8_t* chosen) {
    const int lane_a = s.lane_a(), shift = set_of_index(s, in) * 2 * lane_a;
    for (int e = 0; e < lane_a; e++) {
        uint8_t values[kLanes];
        for (int l = 0; l < kLanes; l++) values[l] = (uint8_t)(index.lane[l] >> (shift + 2 * e) & 3);
        for (int group = 0; group < kLanes / s.m; group++) {
            const int k = lane_a * group + e;
            for (int i = 0; i < s.m; i++) chosen[k * s.m + i] = (uint8_t)(values[group * s.m + i] + k / 2 * 4);
        }
    }
}

void read_rows(const MatrixShape& s, const MatrixOperands& o, float* d) {
    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < s.m; i++) {
            const ElementPlace place = row_place(s, block, i);
            float* row = d + (block * s.m + i) * s.m;
            if (o.c)
                memcpy(row, o.c[place.at].lane + place.lane, sizeof(float) * s.m);
            else
                for (int j = 0; j < s.m; j++) row[j] = float_of((uint32_t)o.constant);
        }
}

void write_rows(Wave& w, const Instruction& in, const MatrixShape& s, const float* d) {
    for (int block = 0; block < s.blocks; block++)
        for (int i = 0; i < s.m; i++) {
            const ElementPlace place = row_place(s, block, i);
            memcpy(w.v[in.result[0].index + place.at].lane + place.lane, d + (block * s.m + i) * s.m,
                   sizeof(float) * s.m);
        }
}

}  // namespace machine
