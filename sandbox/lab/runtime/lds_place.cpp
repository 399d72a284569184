// Moves a worker's thread-local block, and with it the LDS, so that the address of LDS says nothing.
//
// The value of such an address is no part of C++. On a GPU its lower half is an offset that begins at 0, its upper half
// one that depends on the model. So a worker's LDS lies at a drawn place: below or above all buffers, and at a multiple
// of 4 GiB, where the lower halves are those of a GPU, or anywhere.
#include "lds_place.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "memory.h"

namespace ks {

constexpr uint64_t kPage = 4096;
constexpr uint64_t kBehind = 1024;  // behind the thread pointer: the C library's record of the thread, some 200 bytes
constexpr int kSetFs = 0x1002;      // ARCH_SET_FS
// Multiples of 4 GiB below all buffers and above them: sandbox/lab/executor_request.py draws theirs between.
constexpr uint64_t kBelow = 1, kBelowCount = 255, kAbove = 0x7900, kAboveCount = 0x300;

void move_lds(const Request& request, uint32_t worker) {
    if (!request.head.shuffled) return;
    const uint64_t drawn = ((request.head.arena >> 12) + worker * 0x9E3779B97F4A7C15ull) * 0xD6E8FEB86659FD93ull;
    const uint64_t mixed = (drawn ^ drawn >> 29) * 0xBF58476D1CE4E5B9ull;
    uint64_t start = mixed & 1 ? kBelow + (mixed >> 8) % kBelowCount : kAbove + (mixed >> 8) % kAboveCount;
    start <<= 32;
    const uint64_t align = request.head.tls_align ? request.head.tls_align : 1;
    if (mixed & 2) start += (mixed >> 34) / align * align;
    const uint64_t first = start / kPage * kPage, after = start + g_memory.lds_bytes + kBehind;
    void* place = mmap((void*)first, (after - first + kPage - 1) / kPage * kPage, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (place != (void*)first) {
        if (place != MAP_FAILED) munmap(place, (after - first + kPage - 1) / kPage * kPage);
        return;  // taken: it stays where it is
    }
    const uint64_t pointer = start + g_memory.lds_bytes;
    const uint64_t from = (uint64_t)lds_base(), behind = from + g_memory.lds_bytes;
    const uint64_t rest = kPage - behind % kPage;  // what is mapped there
    memcpy((void*)start, (void*)from, g_memory.lds_bytes + (rest < kBehind ? rest : kBehind));
    *(uint64_t*)pointer = pointer;  // it begins with its own address
    long result;
    asm volatile("syscall" : "=a"(result) : "a"(SYS_arch_prctl), "D"(kSetFs), "S"(pointer) : "rcx", "r11", "memory");
    if (result != 0) die("the thread-local memory cannot be moved");
}

}  // namespace ks
