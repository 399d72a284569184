#include "symbolic.h"

#include <stdlib.h>
#include <string.h>

#include "indexed.h"

namespace machine {

namespace {

constexpr uint32_t kPacketBlock = 4, kPacketGrid = 12, kPacketEnd = 24;  // of the packet: 3 of 16 bits, 3 of 32 bits

template <class T> T* room_for(uint64_t count) {
    T* room = (T*)calloc(count + 1, sizeof(T));
    if (!room) die("no memory for symbolic values");
    return room;
}

const char* name_of(const Program& program, const Instruction& in) { return program.names + in.semantics * kNameBytes; }

bool is_scalar(const Program& program, const Instruction& in) { return !strncmp(name_of(program, in), "s_", 2); }

uint32_t place_of(const Operand& operand) {
    return operand.kind == kVector ? operand.index : kScalarPlace + operand.index;
}

uint64_t mixed(uint64_t digest, uint64_t value) { return (digest ^ value) * 0x9e3779b97f4a7c15ull ^ digest >> 29; }

uint64_t digest_of(const Vector& lanes) {
    uint64_t digest = 0;
    for (int l = 0; l < kLanes; l++) digest = mixed(digest, lanes.lane[l]);
    return digest;
}

// The register that holds the first preloaded dword of the arguments.
uint32_t first_preloaded(const Kernel& kernel) {
    static const uint32_t kRoom[] = {4, 2, 2, 2, 2, 2, 1};  // of each UserRegister, by its bit
    uint32_t next = 0;
    for (uint32_t bit = 0; bit < sizeof kRoom / sizeof kRoom[0]; bit++)
        if (kernel.user_registers >> bit & 1) next += kRoom[bit];
    return next;
}

}  // namespace

uint32_t LaunchNumbers::dword(uint32_t offset) const {
    uint8_t packet[kPacketEnd + 4] = {};
    uint32_t value = ~0u;
    if (offset + 4ull <= argument_bytes) {
        memcpy(&value, (const uint8_t*)(word + ExploredLaunch::kNumberWords) + offset, 4);
    } else if (offset >= kPacketOffset && offset < kPacketOffset + kPacketEnd) {
        for (int d = 0; d < 3; d++) {
            const uint16_t block = (uint16_t)word[4 + d];
            const uint32_t items = (uint32_t)(word[1 + d] * word[4 + d]);
            memcpy(packet + kPacketBlock + 2 * d, &block, 2);
            memcpy(packet + kPacketGrid + 4 * d, &items, 4);
        }
        memcpy(&value, packet + (offset - kPacketOffset), 4);
    }
    return value;
}

void Symbolic::prepare(const Program& program) {
    program_ = &program;
    of_ = room_for<Registers>(kMaxWaves);
    node_ = room_for<SymbolicNode>(kMostValues);
    input_ = room_for<SymbolicInput>(kMostInputs);
    captured_ = (Vector*)aligned_alloc(64, kMostCaptured * sizeof(Vector));
    held_ = (Vector*)aligned_alloc(64, (kMostValues + kMostOutputs) * sizeof(Vector));
    varying_ = room_for<uint64_t>(65536 * 8 / 4 / 64);
    count_of_ = room_for<uint8_t>(program.head.instructions);
    node_of_ = room_for<uint16_t>(kMostValues);
    last_of_ = room_for<uint16_t>(program.head.instructions);
    listed_ = room_for<uint32_t>(kMostValues);
    cell_ = room_for<Cell>(kCells);
    if (!captured_ || !held_) die("no memory for symbolic values");
}

void Symbolic::begin(Workgroup& group, const ExploredLaunch& launch) {
    memset(of_, 0, group.waves * sizeof(Registers));
    memset(count_of_, 0, program_->head.instructions);
    memset(last_of_, 0, program_->head.instructions * sizeof *last_of_);
    memset(cell_, 0, kCells * sizeof(Cell));
    memset(varying_, 0, 65536 * 8 / 4 / 8);
    node_count_ = input_count_ = captured_count_ = listed_count_ = cells_ = 0;
    value_count_ = kFirstSymbolic;
    loads_constants_ = false;
    for (uint64_t i = 1; i < launch.rows; i++)
        for (uint64_t w = ExploredLaunch::kNumberWords; w < launch.row_words; w++) {
            const uint64_t differs = launch.row(i).word[w] ^ launch.words[w];
            const uint64_t dword = 2 * (w - ExploredLaunch::kNumberWords);
            if ((uint32_t)differs) varying_[dword / 64] |= 1ull << dword % 64;
            if (differs >> 32) varying_[dword / 64] |= 2ull << dword % 64;
        }
    const Kernel& kernel = *group.kernel;
    for (uint32_t w = 0; w < group.waves; w++)
        for (uint32_t i = 0; i < kernel.kernarg_preload; i++) {
            const uint32_t offset = (uint32_t)(4 * (kernel.preload_offset + i)), at = first_preloaded(kernel) + i;
            if (varies(offset) && at < kVcc) of_[w].scalar[at] = argument(*group.wave[w], offset);
        }
}

bool Symbolic::varies(uint32_t offset) const {
    if (offset >= kPacketOffset) return offset < kPacketOffset + kPacketEnd;
    return offset < 65536 && varying_[offset / 256] >> offset / 4 % 64 & 1;
}

ValueId& Symbolic::at(const Wave& wave, uint32_t place) {
    Registers& registers = of_[wave.number];
    return place < kScalarPlace ? registers.vector[place] : registers.scalar[place - kScalarPlace];
}

void Symbolic::add_input(const Wave& wave, uint32_t place, bool may_be_opaque) {
    ValueId value = at(wave, place);
    if (value == kOpaque && may_be_opaque) is_opaque_ = true;
    if (value == kOpaque) value = kConcrete;
    if (given_count_ == kMostInputsOfNode) {
        is_opaque_ |= is_symbolic_ || value != kConcrete;
        return;
    }
    is_symbolic_ |= value != kConcrete;
    given_[given_count_++] = {place, value, 0};
}

void Symbolic::add_operand(const Wave& wave, const Operand& operand, bool may_be_opaque) {
    if (operand.kind != kVector && operand.kind != kScalar) return;
    for (uint32_t d = 0; d < operand.dwords && operand.index + d < kRegisters; d++)
        add_input(wave, place_of(operand) + d, may_be_opaque);
}

void Symbolic::before(const Wave& wave, const Instruction& in) {
    given_count_ = 0;
    is_symbolic_ = is_opaque_ = reads_data_ = false;
    scalar_address_ = 0;
    exec_ = wave.exec();
    loaded_at_ = loaded_step_ = 0;
    for (Loaded& each : loaded_) each.lanes = 0, each.is_opaque = each.is_symbolic = false;
    const bool scalar = is_scalar(*program_, in), in_memory = in.bytes && !scalar;
    for (int k = 0; k < 4; k++)
        if (!in_memory || k != kDataSource) add_operand(wave, in.source[k]);
    if (in.flags & kReadsScc) add_input(wave, kScalarPlace + kScc);
    if (in.flags & kReadsM0) add_input(wave, kScalarPlace + kM0);
    for (uint32_t d = 0; d < 2; d++) {
        if (in.flags & kReadsVcc) add_input(wave, kScalarPlace + kVcc + d);
        if (scalar && in.flags & kReadsExec) add_input(wave, kScalarPlace + kExec + d);
    }
    is_opaque_ |= wave.index_mode != 0;
    for (const Operand& to : in.result) {
        const bool keeps = exec_ != wave.present || in.flags & (kSdwa | kDpp) || to.modifiers;
        if (to.kind == kVector && keeps) add_operand(wave, to, false);
    }
    if (scalar && in.bytes) reads_data_ = reads_buffer(wave, in);
    if (!is_symbolic_ || is_opaque_) return;
    for (uint32_t i = 0; i < given_count_; i++) {
        SymbolicInput& input = given_[i];
        if (input.value != kConcrete) continue;
        if (input.place >= kScalarPlace)
            input.constant = wave.s[input.place - kScalarPlace];
        else
            memcpy(&given_lanes_[i], &wave.v[input.place], sizeof(Vector));
    }
}

// What a scalar load finds: arguments, constants, or data.
bool Symbolic::reads_buffer(const Wave& wave, const Instruction& in) {
    const Scalar base = read_scalar(wave, in, 0);
    uint64_t address = base.value + (uint64_t)in.offset;
    if (in.source[1].kind != kNone) address += (uint32_t)read_scalar(wave, in, 1).value;
    scalar_address_ = in.source[0].dwords == 2 ? address & ~3ull : 0;
    const Region* region = region_of(scalar_address_, 4);
    return !region || region->space == Space::buffer;
}

uint32_t Symbolic::outputs_of(const Instruction& in, uint32_t* place) const {
    uint32_t count = 0;
    const auto add = [&](uint32_t each) {
        if (count < kMostPlaces) place[count++] = each;
    };
    for (const Operand& to : in.result)
        for (uint32_t d = 0; to.kind != kNone && d < to.dwords; d++) add(place_of(to) + d);
    if (in.flags & kWritesScc) add(kScalarPlace + kScc);
    if (in.flags & kWritesM0) add(kScalarPlace + kM0);
    for (uint32_t d = 0; in.flags & kWritesExec && d < 2; d++) add(kScalarPlace + kExec + d);
    return count;
}

void Symbolic::set_outputs(const Wave& wave, const Instruction& in, ValueId all) {
    uint32_t place[kMostPlaces];
    for (uint32_t i = outputs_of(in, place); i > 0; i--) at(wave, place[i - 1]) = all;
}

void Symbolic::after(const Wave& wave, const Instruction& in) {
    const bool scalar = is_scalar(*program_, in);
    if (in.bytes && !in.results) return;  // a store: its cells are noted, and it is never executed again
    if (in.bytes && !scalar) return finish_load(wave, in);
    if (in.bytes && scalar_address_ >> 48 == kKernargBase >> 48 && !is_symbolic_) return load_arguments(wave, in);
    if (is_opaque_ || (in.bytes && reads_data_)) return set_outputs(wave, in, kOpaque);
    if (!is_symbolic_) return set_outputs(wave, in, kConcrete);
    loads_constants_ |= in.bytes != 0;
    make_node(wave, in);
}

void Symbolic::load_arguments(const Wave& wave, const Instruction& in) {
    const Operand& to = in.result[0];
    const uint64_t first = scalar_address_ - kKernargBase;
    for (uint32_t d = 0; d < to.dwords; d++) {
        const uint32_t offset = (uint32_t)first + 4 * d;
        at(wave, place_of(to) + d) = varies(offset) ? argument(wave, offset) : kConcrete;
    }
}

ValueId Symbolic::argument(const Wave& wave, uint32_t offset) {
    for (uint32_t i = 0; i < node_count_; i++)
        if (node_[i].kind == SymbolicNode::argument && node_[i].offset == offset) return node_[i].value;
    SymbolicNode* node = new_node(wave, SymbolicNode::argument, 1, 0, offset);
    if (!node) return kOpaque;
    node->offset = offset;
    return node->value;
}

// A node of the inputs in `given_`; null where there is no room.
SymbolicNode* Symbolic::new_node(const Wave& wave, SymbolicNode::Kind kind, uint32_t outputs, uint32_t inputs,
                                 uint64_t digest) {
    uint8_t& count = count_of_[wave.at];
    if (node_count_ == kMostValues || value_count_ + outputs > kMostValues || input_count_ + inputs > kMostInputs)
        return nullptr;
    if (kind == SymbolicNode::executed) {
        if (count == kMostOfInstruction) return nullptr;
        count++;
    }
    SymbolicNode& node = node_[node_count_++];
    node = {};
    if (kind == SymbolicNode::executed) {
        node.before = last_of_[wave.at];
        last_of_[wave.at] = (uint16_t)node_count_;
    }
    node.kind = kind;
    node.outputs = (uint8_t)outputs;
    node.inputs = (uint16_t)inputs;
    node.instruction = wave.at;
    node.first_input = input_count_;
    node.value = value_count_;
    node.exec = exec_;
    node.digest = digest;
    input_count_ += inputs;
    value_count_ += outputs;
    return &node;
}

void Symbolic::make_node(const Wave& wave, const Instruction& in) {
    uint32_t place[kMostPlaces];
    const uint32_t outputs = outputs_of(in, place);
    if (outputs > kMostOutputs) return set_outputs(wave, in, kOpaque);
    uint64_t digest = mixed(wave.at + 1ull, exec_);
    for (uint32_t i = 0; i < given_count_; i++) {
        const SymbolicInput& input = given_[i];
        digest = mixed(digest, (uint64_t)input.place << 32 | input.value);
        if (input.value == kConcrete)
            digest = mixed(digest, input.place < kScalarPlace ? digest_of(given_lanes_[i]) : input.constant);
    }
    SymbolicNode* node = nullptr;
    for (uint32_t next = last_of_[wave.at]; next && !node; next = node_[next - 1].before)
        if (node_[next - 1].digest == digest) node = &node_[next - 1];
    if (node) return keep(wave, *node, place, outputs);
    if (captured_count_ + given_count_ <= kMostCaptured)
        node = new_node(wave, SymbolicNode::executed, outputs, given_count_, digest);
    if (!node) return set_outputs(wave, in, kOpaque);
    for (uint32_t i = 0; i < given_count_; i++) {
        SymbolicInput& input = input_[node->first_input + i] = given_[i];
        if (input.value != kConcrete || input.place >= kScalarPlace) continue;
        input.constant = captured_count_++;
        captured_[input.constant] = given_lanes_[i];
    }
    keep(wave, *node, place, outputs);
}

void Symbolic::keep(const Wave& wave, SymbolicNode& node, const uint32_t* place, uint32_t outputs) {
    for (uint32_t i = 0; i < outputs; i++) {
        node.place[i] = place[i];
        at(wave, place[i]) = node.value + i;
    }
}

void Symbolic::set_input(Wave& wave, const SymbolicInput& input) {
    if (input.place >= kScalarPlace)
        wave.s[input.place - kScalarPlace] = input.value == kConcrete ? input.constant : held_[input.value].lane[0];
    else
        wave.v[input.place] = input.value == kConcrete ? captured_[input.constant] : held_[input.value];
}

uint32_t Symbolic::prune(const Watches& watches, const Coverage& known) {
    for (uint32_t n = 0; n < node_count_; n++)
        for (uint32_t i = 0; i < node_[n].outputs; i++) node_of_[node_[n].value + i] = (uint16_t)n;
    uint32_t needed = 0;
    listed_count_ = 0;
    for (uint32_t n = node_count_; n-- > 0;) {
        SymbolicNode& node = node_[n];
        const bool is_executed = node.kind == SymbolicNode::executed;
        const bool is_asked = is_executed && outcomes_left(watches.of[node.instruction], known.met[node.instruction]);
        if (is_asked) list(node.instruction);
        if (!(node.is_needed |= is_asked)) continue;
        needed++;
        for (uint32_t i = 0; i < node.inputs; i++) {
            const SymbolicInput& input = input_[node.first_input + i];
            if (input.value != kConcrete) node_[node_of_[input.value]].is_needed = true;
        }
    }
    return needed;
}

void Symbolic::list(uint32_t instruction) {
    if (!count_of_[instruction]) return;
    count_of_[instruction] = 0;
    listed_[listed_count_++] = instruction;
}

void Symbolic::evaluate(Workgroup& group, const LaunchNumbers& numbers, const Watches& watches, Coverage& met) {
    Wave& wave = *group.wave[0];
    for (uint32_t n = 0; n < node_count_; n++) {
        const SymbolicNode& node = node_[n];
        const SymbolicInput* const input = input_ + node.first_input;
        if (!node.is_needed) continue;
        if (node.kind == SymbolicNode::argument) {
            held_[node.value].lane[0] = numbers.dword(node.offset);
            continue;
        }
        if (node.kind == SymbolicNode::gathered) {
            for (uint32_t i = 0; i < node.inputs; i++) {
                const bool is_known = input[i].value == kConcrete;
                const uint32_t lane = input[i].place;
                held_[node.value].lane[lane] =
                    is_known ? input[i].constant : held_[input[i].value].lane[input[i].constant];
            }
            continue;
        }
        wave.set_scalar64(kExec, node.exec);
        for (uint32_t i = 0; i < node.inputs; i++) set_input(wave, input[i]);
        wave.at = node.instruction;
        wave.next = wave.at + 1;
        wave.write_mask = wave.exec();
        wave.state = kRunning;
        wave.index_mode = 0;
        const Instruction& in = program_->code[wave.at];
        execute(wave, program_->run[wave.at], in);
        note_met(wave, in, watches.of[wave.at], met);
        for (uint32_t i = 0; i < node.outputs; i++) {
            const uint32_t place = node.place[i];
            if (place >= kScalarPlace)
                held_[node.value + i].lane[0] = wave.s[place - kScalarPlace];
            else
                held_[node.value + i] = wave.v[place];
        }
    }
}

}  // namespace machine
