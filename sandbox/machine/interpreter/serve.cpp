#include "serve.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "loaded_program.h"

namespace machine {

namespace {

bool read_order(ServeOrder& order) {
    for (size_t done = 0; done < sizeof order;) {
        const ssize_t n = read(0, (char*)&order + done, sizeof order - done);
        if (n == 0 && !done) return false;
        if (n <= 0) die("an order is cut short");
        done += (size_t)n;
    }
    if (order.inputs[sizeof order.inputs - 1] || strchr(order.inputs, '/')) die("an order names no file");
    return true;
}

void begin(const ServeOrder& order, const char* inputs, void (*execute)(const char* path)) {
    char path[4096];
    const struct rlimit limit = {order.cpu_s, order.cpu_s + 1};
    if (setrlimit(RLIMIT_CPU, &limit) != 0) die("setrlimit");
    snprintf(path, sizeof path, "%s/%s", inputs, order.inputs);
    execute(*order.inputs ? path : nullptr);
}

void answer(int status, const struct rusage& usage) {
    const long long cpu_us =
        (usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000ll + usage.ru_utime.tv_usec + usage.ru_stime.tv_usec;
    const bool by_signal = WIFSIGNALED(status);
    char text[64];
    const int size = snprintf(text, sizeof text, "ended %s %d %lld\n", by_signal ? "signal" : "exit",
                              by_signal ? WTERMSIG(status) : WEXITSTATUS(status), cpu_us);
    if (write(1, text, (size_t)size) != size) die("an answer cannot be given");
}

}  // namespace

int serve(const char* inputs, void (*execute)(const char* path)) {
    ServeOrder order;
    while (read_order(order)) {
        // The cage knows clone and no fork; there is one thread, so nothing is held that the new process waits for.
        const long child = syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
        if (child < 0) die("a process cannot be started");
        if (child == 0) begin(order, inputs, execute);
        int status;
        struct rusage usage;
        while (wait4((pid_t)child, &status, 0, &usage) < 0)
            if (errno != EINTR) die("wait4");
        answer(status, usage);
    }
    return 0;
}

}  // namespace machine
