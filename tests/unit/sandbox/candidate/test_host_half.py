"""Host functions become empty lines; device code and what it names stay where they are."""

from __future__ import annotations

import pytest

from sandbox.candidate.host_half import without_host_half
from sandbox.candidate.parse import normalise

KERNEL = "__global__ void k(float* y) { y[threadIdx.x] = 1.0f; }\n"
MAIN = "int main() {\n  float* y;\n  hipMalloc(&y, 4);\n  k<<<1, 64>>>(y);\n  return 0;\n}\n"


def test_main_and_launchers_become_empty_lines() -> None:
    text = KERNEL + "void launch(float* y) {\n  hipLaunchKernelGGL(k, 1, 64, 0, 0, y);\n}\n" + MAIN + "// end\n"
    assert without_host_half(text) == KERNEL + "\n" * 9 + "// end\n"
    assert normalise(normalise(text)) == normalise(text)


@pytest.mark.parametrize(
    "text",
    [
        KERNEL,
        "float helper(float x) { return x; }\n" + KERNEL,  # nobody launches: an unmarked helper is a fault to report
        "#define DEV static __device__\n#define HOT DEV inline\nHOT float f() { return 1; }\n",
        "constexpr int twice(int x) { return 2 * x; }\n" + KERNEL,
        "struct P { float x; };\nnamespace n { __device__ P p; }\n" + KERNEL,
        "template <class T> __device__ T f(T x) { return x; }\n" + KERNEL,
        "enum class Kind { set, map };\n" + KERNEL.replace("1.0f", "float(Kind::set)"),
    ],
)
def test_the_device_half_stays(text: str) -> None:
    assert without_host_half(text) == text
    assert without_host_half(text + MAIN) == text.replace("float helper(float x) { return x; }", "") + "\n" * 6


def test_a_host_function_that_device_code_names_stays_and_is_refused_by_its_name() -> None:
    text = "float helper(float x) { return x; }\n__global__ void k(float* y) { *y = helper(*y); }\n"
    assert without_host_half(text + MAIN).startswith(text)


def test_host_declarations_go_with_their_functions() -> None:
    text = "static hipStream_t stream;\nstd::vector<int> sizes;\nstruct Timer {\n  hipEvent_t start;\n};\n"
    assert without_host_half(text + KERNEL + MAIN) == "\n" * 5 + KERNEL + "\n" * 6


def test_namespaces_linkage_and_conditions_keep_their_brackets() -> None:
    text = 'extern "C" {\nnamespace a {\n' + KERNEL + "void go() {\n#ifdef X\n  hipFree(0);\n#endif\n}\n}\n}\n"
    assert without_host_half(text) == 'extern "C" {\nnamespace a {\n' + KERNEL + "\n#ifdef X\n\n#endif\n\n}\n}\n"


def test_a_launch_in_a_comment_or_a_string_is_none() -> None:
    text = "// k<<<1, 64>>>(y)\nint f() { return 1; }\n" + KERNEL
    assert without_host_half(text) == text


def test_brackets_that_do_not_fit_leave_the_text_alone() -> None:
    text = "int main() { (hipFree(0); }\n" + KERNEL
    assert without_host_half(text) == text


def test_a_pragma_of_a_host_function_goes_with_it() -> None:
    text = (
        "void cpu(float* y) {\n  #pragma omp parallel for\n  for (int i = 0; i < 9; ++i) y[i] = 0;\n}\n" + KERNEL + MAIN
    )
    assert without_host_half(text) == "\n" * 4 + KERNEL + "\n" * 6


@pytest.mark.parametrize(
    "text",
    [
        "x {} " * 9000 + ";",
        "void f() { hipFree(0); }\n" * 2000,
        "".join(f"#define A{i} A{i + 1}\n" for i in range(3000)) + "#define A3000 __device__\n",
        "int a[] = {" + "1, " * 20000 + "};",
    ],
    ids=["braces", "functions", "macros", "table"],
)
def test_a_long_file_is_understood(text: str) -> None:
    assert "hip" not in without_host_half(text + MAIN)


def test_classes_of_the_host_go_and_those_that_device_code_needs_stay() -> None:
    parser = "class Parser {\n  int n;\n  int get() const { return n; }\n};\n"
    inner = "struct Inner { __device__ float x() { return 1; } float v; };\n"
    outer = "struct Outer { Inner inner; };\nOuter twice(Outer o) { return o; }\n"
    kernel = "__global__ void k(Outer* o) { o[0] = o[1]; }\n"
    device_half = without_host_half(parser + inner + outer + kernel + MAIN)
    assert device_half == "\n" * 4 + inner + "struct Outer { Inner inner; };\n\n" + kernel + "\n" * 6


def test_a_prototype_is_no_use_of_a_function() -> None:
    text = "int parse(char* text);\ntypedef float (*F)(int);\nint parse(char* text) { return atoi(text); }\n"
    assert without_host_half(text + KERNEL + MAIN) == "\ntypedef float (*F)(int);\n\n" + KERNEL + "\n" * 6


def test_a_function_of_containers_is_the_hosts_and_the_bare_word_is_not() -> None:
    host = "template <class T>\nstd::string Box<T>::text() const {\n  return std::string();\n}\n"
    box = "template <class T> struct Box { T x; __device__ T get(); std::string text() const; };\n"
    device = "__device__ int at(const int* map, int i) { return map[i]; }\nconstexpr int set(int x) { return x; }\n"
    expected = device + "__global__ void k(Box<float> b, int* y) { *y = set(at(y, 1)); }\n"
    assert without_host_half(box + host + expected + MAIN) == box + "\n" * 4 + expected + "\n" * 6


def test_a_host_form_of_a_device_function_goes_though_device_code_names_it() -> None:
    host = "static int width(int cc) {\n  return cc;\n}\n"
    expected = "__device__ int width() { return 4; }\nconstexpr int half(int x) { return x / 2; }\n"
    expected += "__device__ float half(float x) { return x / 2; }\n"
    expected += "__global__ void k(int* y) { *y = width() + half(6); }\n"
    assert without_host_half(host + expected + MAIN) == "\n" * 3 + expected + "\n" * 6


def test_what_only_host_members_of_a_class_name_goes_with_them() -> None:
    host = "static bool fits(int cc) {\n  return cc > 3;\n}\n"
    member = "  static Tile best(int cc) { return {fits(cc)}; }"
    box = f"struct Tile {{\n  int n;\n  __device__ int size() {{ return n; }}\n{member}\n}};\n"
    expected = box.replace(member, "  ")
    assert without_host_half(host + box + KERNEL + MAIN) == "\n" * 3 + expected + KERNEL + "\n" * 6


def test_other_names_of_library_types_go_where_nothing_else_is_the_hosts() -> None:
    text = "using handle_t = hipblasLtHandle_t;\nusing stream_t = hipStream_t;\nusing real_t = float;\n"
    assert without_host_half(text + KERNEL) == "\n" + text.split("\n", 1)[1] + KERNEL


def test_a_macro_that_stands_for_the_runtimes_interface_makes_a_function_the_hosts() -> None:
    macros = "#define OK hipSuccess\n#define IS_OK(x) ((x) == OK)\n#define LANE hipThreadIdx_x\n#define NOTHING\n"
    host = "inline void check(int status) {\n  if (!IS_OK(status)) throw status;\n}\n"
    expected = "constexpr int one() { return 1; }\n__device__ int lane() { return LANE; }\n"
    assert without_host_half(macros + host + expected + KERNEL) == macros + "\n" * 3 + expected + KERNEL


def test_a_files_own_templates_and_types_stay_whatever_the_hosts_ones_are_called() -> None:
    device = (
        "template <class T> struct kind {};\n"
        "template <> struct kind<hip_bfloat16> { using type = float; };\n"
        "template <class T, int... I> struct list;\n"
        "template <typename T, int N> struct vector { T x[N]; };\n"
        "template <typename T, int N> using vector_t = vector<T, N>;\n"
        "template <class T> static constexpr bool is_small = sizeof(T) < 4;\n"
        "__global__ void k(vector_t<float, 4>* y) { y[0].x[is_small<kind<int>>] = 1.0f; }\n"
    )
    host = (
        "template <class Key, class T> struct Cache { std::mutex lock; T get(Key k); };\n"
        "struct Timer { using type = float; hipEvent_t start; };\n"
    )
    assert without_host_half(host + device + MAIN) == "\n\n" + device + "\n" * 6


def test_variables_of_the_host_go_and_those_that_device_code_names_stay() -> None:
    text = "int size = 1024;\nint tiles = size * size;\nint shown = 3;\n"
    device_names = KERNEL + "__device__ int f() { return shown; }\n"
    assert without_host_half(text + device_names + MAIN) == "\n\nint shown = 3;\n" + device_names + "\n" * 6


def test_an_aligned_type_without_a_name_is_no_function() -> None:
    text = "typedef struct __align__(4) { unsigned char r, g; } Pixel;\n" + KERNEL.replace("float", "Pixel")
    assert without_host_half(text + MAIN) == text + "\n" * 6


def test_functions_that_name_containers_of_the_standard_library_are_the_hosts() -> None:
    for name in ("list<int>", "queue<float>", "function<void()>", "runtime_error"):
        text = KERNEL + MAIN + f"int count(std::{name}& all) {{ return 1; }}\n// end\n"
        assert "count" not in without_host_half(text) and "__global__" in without_host_half(text)


def test_constants_made_of_a_hosts_constant_go_with_it() -> None:
    host = "struct Kind { std::string name; };\nconstexpr Kind one;\nstatic inline constexpr Kind two = one;\n"
    host += "static inline constexpr auto other = two;\n"
    expected = "constexpr int size = 4;\nconstexpr int more = size + 1;\n"
    assert without_host_half(host + expected + KERNEL + MAIN) == "\n" * 4 + expected + KERNEL + "\n" * 6


def test_a_macro_that_instantiates_functions_of_the_host_goes_with_them() -> None:
    macros = (
        "#define EVERY(word) word void launch<float>(float*); word void launch<int>(int*);\n#define ONE(x) int x;\n"
    )
    host = "template <class T> void launch(T* y) { k<<<1, 64>>>(y); }\nEVERY(extern template)\nEVERY(template)\n"
    expected = KERNEL + "ONE(count)\n__device__ int f() { return count; }\n"
    assert without_host_half(macros + host + expected) == macros + "\n" * 3 + expected


def test_pytorchs_word_for_the_host_marks_a_member() -> None:
    box = "struct Box {\n  C10_HOST Box(const char* name) : name_(name) {}\n  const char* name_;\n};\n"
    kernel = KERNEL.replace("1.0f", "sizeof(Box)")
    assert without_host_half(box + kernel + MAIN).startswith("struct Box {\n  C10_HOST Box(const char* name) ;\n")


def test_a_prototype_that_takes_a_stream_is_the_hosts() -> None:
    text = "template <typename T> void launch(T* y, const hipStream_t& stream);\nvoid other(hipStream_t s);\n"
    assert without_host_half(text + KERNEL) == "\n" * 2 + KERNEL
    prototypes = "extern GLuint buffer;\nextern cufftHandle forward;\n"
    assert without_host_half(text + prototypes + KERNEL) == "\n" * 4 + KERNEL
    marked = "__device__ void ready(hipStream_t s);\n"
    assert without_host_half(marked + KERNEL) == marked + KERNEL


def test_macros_behind_extern_that_are_instantiations_go() -> None:
    macros = "#define CASE(n) template void launch<n>(Context&)\n#define ALL(n) extern CASE(n); extern CASE(2 * n);\n"
    macros += "#define EACH(FUNC) FUNC(1) FUNC(2)\n#define KEPT(n) __device__ int v##n;\n"
    uses = "ALL(1)\nEACH(CASE)\nextern CASE(8);\n"
    assert without_host_half(macros + "EACH(KEPT)\n" + KERNEL) == macros + "EACH(KEPT)\n" + KERNEL
    assert without_host_half(macros + uses + KERNEL + MAIN) == macros + "\n" * 3 + KERNEL + "\n" * 6


def test_explicit_instantiations_go_and_what_else_a_macro_writes_stays() -> None:
    text = "template <class T, int N> __global__ void k(T* y) { y[0] = N; }\n"
    removed = "template __global__ void k<float, 4>(float*);\nextern template struct S<int>;\n"
    macros = "#define MAKE(T) template __global__ void k<T, 2>(T*); template __global__ void k<T, 3>(T*)\n"
    macros += "#define ALL() MAKE(int); MAKE(char);\n#define BOTH(x) template struct S<x>; int x;\n"
    uses = "MAKE(float);\nALL()\n"
    left = text + "\n\n" + macros + "\n\n"
    assert without_host_half(text + removed + macros + uses + "BOTH(a)\n") == left + "BOTH(a)\n"
    assert without_host_half(text + removed + macros + uses) == left


def test_a_file_that_takes_more_than_numbers_from_the_framework_has_a_host_half() -> None:
    text = "using at::Half;\nusing at::Tensor;\ninline int blocks(int n) { return min(n, 4096); }\n"
    assert without_host_half(text + KERNEL) == "using at::Half;\n\n\n" + KERNEL
    device_names = "inline int twice(int n) { return 2 * n; }\n__device__ int f(int n) { return twice(n); }\n"
    assert without_host_half(text + device_names) == "using at::Half;\n\n\n" + device_names  # to be refused by its name


def test_a_type_behind_a_macro_with_parameters_is_no_function() -> None:
    text = "typedef struct __CUDA_ALIGN__(32) {\n    float array[8];\n} float8;\n__device__ float8 all;\n"
    assert without_host_half(text + KERNEL + MAIN) == text + KERNEL + "\n" * 6


def test_parentheses_of_a_template_or_an_attribute_are_no_parameters() -> None:
    removed = "template <class... T, enable_if_t<sizeof...(T) == 2, int> = 0> void go(T... x) { hipFree(0); }\n"
    expected = "#define MAKE(name) template <class... T> __device__ int name(T... x) { return 1; }\nMAKE(one)\n"
    assert without_host_half(removed + expected + KERNEL) == "\n" + expected + KERNEL


def test_functions_that_use_a_hosts_library_by_its_namespace_go() -> None:
    text = 'inline auto read(nlohmann::json& all) { return all["x"]; }\nstruct Format { int fmt; };\n'
    assert without_host_half(text + KERNEL + MAIN) == "\n" + text.split("\n", 1)[1] + KERNEL + "\n" * 6


def test_tensors_by_value_belong_to_device_code() -> None:
    text = "typedef torch::PackedTensorAccessor32<float, 2, torch::RestrictPtrTraits> rows_t;\nusing torch::Tensor;\n"
    assert without_host_half(text + KERNEL) == text.split("\n")[0] + "\n\n" + KERNEL


@pytest.mark.parametrize(
    "text",
    [
        "inline unsigned exp2(unsigned m, int n) { return n; }",  # device code has another one
        "inline bool operator<(Half a, Half b) { return a.x < b.x; }",
        "unsigned gamma(unsigned x) { return missing(x); }",  # only a variable's name
        "Half less(Half a) { return missing(a); }",  # only a friend's
    ],
)
def test_functions_without_a_mark_that_no_device_code_calls_go(text: str) -> None:
    types = "struct Half {\n  float x;\n  friend Half less(Half a);\n};\n__device__ Half h;\n"
    kernel = "__global__ void k(float* gamma) { gamma[0] = h.x < exp2(gamma[1]) ? gamma[0] : 1; }\n"
    assert without_host_half(f"{types}{text}\n{kernel}{MAIN}") == f"{types}\n{kernel}" + "\n" * 6
