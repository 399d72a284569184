// Values of a workgroup that follow from its launch's numbers alone (dims, counts, what a plan computes), as expressions.
//
// The recorder follows each register and each dword of memory while the workgroup runs. A value is concrete (no number
// of the launch is in it), opaque (data are in it), or symbolic: a node that says which instruction made it of which
// values. Nodes are evaluated for the numbers of thousands of other launches, by the instructions' own functions, so a
// decision by shape is known for every shape, whatever its spelling and the way that it takes: registers, LDS, private
// memory, shuffles, tables. What a node finds elsewhere is true only where the wave comes by there, so it is a
// suggestion that an execution must confirm.
#pragma once
#include "coverage.h"
#include "places.h"

namespace machine {

using ValueId = uint32_t;
constexpr ValueId kConcrete = 0, kOpaque = 1, kFirstSymbolic = 2;
constexpr uint32_t kMostValues = 4096, kMostInputs = 1 << 15, kMostCaptured = 4096;
constexpr uint32_t kMostOfInstruction = 48;  // nodes: a loop's turns are much alike
constexpr uint32_t kMostOutputs = 4, kMostInputsOfNode = 24, kMostPlaces = 40;
constexpr uint32_t kCellBits = 15, kCells = 1 << kCellBits;  // dwords of memory, half of which are used at most
// Places of inputs and outputs: 0 to 511 a vector register, this one and n a scalar register.
constexpr uint32_t kScalarPlace = 1024;

struct SymbolicInput {
    uint32_t place;     // of a gathered dword: the lane of the result
    ValueId value;      // symbolic or kConcrete
    uint32_t constant;  // of a concrete scalar its bits, of a vector its number among the captured ones; else the lane
};

struct SymbolicNode {
    enum Kind : uint8_t { executed, argument, gathered } kind;
    bool is_needed;
    uint8_t outputs;
    uint16_t inputs, before;  // before: 1 + the node of the same instruction that came before, or 0
    uint32_t instruction, first_input;
    uint32_t offset;  // of an argument, in the kernel's arguments and what lies behind them
    uint32_t place[kMostOutputs];
    ValueId value;  // of the first output; others follow
    uint64_t exec;
    uint64_t digest;
};

class Symbolic {
  public:
    void prepare(const Program& program);
    // Arguments of which the dwords at these places are not the same for all launches are symbolic.
    void begin(Workgroup& group, const ExploredLaunch& launch);
    void before(const Wave& wave, const Instruction& in);
    void after(const Wave& wave, const Instruction& in);
    void note_access(const Wave& wave, const Instruction& in, const Place& place, Access access, uint32_t bytes);
    // Leaves out the nodes of which nothing is asked that the known shapes have not met; how many are left.
    uint32_t prune(const Watches& watches, const Coverage& known);
    // Evaluates every node; `met` gets what each instruction meets. The group's first wave is used up.
    void evaluate(Workgroup& group, const LaunchNumbers& numbers, const Watches& watches, Coverage& met);
    // Instructions that have a node, each once.
    const uint32_t* instructions() const { return listed_; }
    uint32_t instruction_count() const { return listed_count_; }
    bool loads_constants() const { return loads_constants_; }

  private:
    struct Registers {
        ValueId scalar[kRegisters], vector[kRegisters];
    };
    struct Cell {  // a dword of memory
        uint64_t key;
        ValueId value;
        uint32_t lane;
    };
    struct Loaded {
        uint64_t lanes;
        bool is_opaque, is_symbolic;
        ValueId value[kLanes];
        uint8_t lane[kLanes];
    };

    ValueId& at(const Wave& wave, uint32_t place);
    void add_input(const Wave& wave, uint32_t place, bool may_be_opaque = true);
    void add_operand(const Wave& wave, const Operand& operand, bool may_be_opaque = true);
    void set_outputs(const Wave& wave, const Instruction& in, ValueId all);
    uint32_t outputs_of(const Instruction& in, uint32_t* place) const;
    void make_node(const Wave& wave, const Instruction& in);
    SymbolicNode* new_node(const Wave& wave, SymbolicNode::Kind kind, uint32_t outputs, uint32_t inputs,
                           uint64_t digest);
    void keep(const Wave& wave, SymbolicNode& node, const uint32_t* place, uint32_t outputs);
    bool varies(uint32_t offset) const;
    bool reads_buffer(const Wave& wave, const Instruction& in);
    ValueId argument(const Wave& wave, uint32_t offset);
    void load_arguments(const Wave& wave, const Instruction& in);
    void finish_load(const Wave& wave, const Instruction& in);
    ValueId gathered(const Wave& wave, const Vector& lanes, const Loaded& loaded);
    void load(const Place& place, uint32_t dwords, bool is_whole);
    void store(const Wave& wave, const Instruction& in, const Place& place, uint32_t dwords, bool is_whole);
    Cell* cell(uint64_t key, bool is_new);
    void list(uint32_t instruction);
    void set_input(Wave& wave, const SymbolicInput& input);

    const Program* program_ = nullptr;
    Registers* of_ = nullptr;  // of each wave
    SymbolicNode* node_ = nullptr;
    SymbolicInput* input_ = nullptr;
    Vector *captured_ = nullptr, *held_ = nullptr;  // held: of each value, its lanes; a scalar in lane 0
    uint64_t* varying_ = nullptr;
    uint16_t* node_of_ = nullptr;  // of each value
    uint8_t* count_of_ = nullptr;  // of each instruction: nodes
    uint16_t* last_of_ = nullptr;  // 1 + the last of them
    uint32_t* listed_ = nullptr;
    Cell* cell_ = nullptr;
    uint32_t node_count_ = 0, value_count_ = 0, input_count_ = 0, captured_count_ = 0, listed_count_ = 0, cells_ = 0;
    // Of the instruction that runs:
    SymbolicInput given_[kMostInputsOfNode];
    Vector given_lanes_[kMostInputsOfNode];
    Loaded loaded_[kMostOutputs];
    uint32_t given_count_ = 0, loaded_at_ = 0, loaded_step_ = 0;
    uint64_t exec_ = 0, scalar_address_ = 0;
    bool is_symbolic_ = false, is_opaque_ = false, reads_data_ = false, loads_constants_ = false;
};

}  // namespace machine
