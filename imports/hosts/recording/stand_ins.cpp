// In the place of the C++ library, for programs that need no more of it than this.
#include <stdlib.h>

namespace std {
[[noreturn]] __attribute__((weak)) void terminate() noexcept { abort(); }
}  // namespace std
__attribute__((weak)) void* operator new(size_t bytes) { return malloc(bytes ? bytes : 1); }
__attribute__((weak)) void* operator new[](size_t bytes) { return malloc(bytes ? bytes : 1); }
__attribute__((weak)) void operator delete(void* place) noexcept { free(place); }
__attribute__((weak)) void operator delete[](void* place) noexcept { free(place); }
__attribute__((weak)) void operator delete(void* place, size_t) noexcept { free(place); }
__attribute__((weak)) void operator delete[](void* place, size_t) noexcept { free(place); }
extern "C" {
__attribute__((weak)) void __cxa_pure_virtual() { abort(); }
__attribute__((weak)) void __abort_message(const char*, ...) { abort(); }
__attribute__((weak)) int __cxa_guard_acquire(char* guard) { return !*guard; }
__attribute__((weak)) void __cxa_guard_release(char* guard) { *guard = 1; }
__attribute__((weak)) int __gxx_personality_v0(...) { abort(); }
__attribute__((weak)) void _Unwind_Resume(void*) { abort(); }
__attribute__((weak)) void* __cxa_begin_catch(void*) { abort(); }
__attribute__((weak)) void __clang_call_terminate(void*) { abort(); }
}
