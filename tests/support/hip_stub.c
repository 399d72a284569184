// HIP's runtime and hipRTC as far as this project calls them: every call goes to a server in the test's process, through
// the socket that lies beside this library. See hip_stub.py, which checks, remembers and executes.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { kAbort = -1, kGone = 999, kMaxParameters = 64 };

static int connection = -1;
static pthread_mutex_t turn = PTHREAD_MUTEX_INITIALIZER;

static int put(const void* data, uint64_t size) {
    for (const char* at = data; size;) {
        ssize_t done = send(connection, at, size, MSG_NOSIGNAL);
        if (done <= 0) return 0;
        at += done, size -= (uint64_t)done;
    }
    return 1;
}

static int take(void* data, uint64_t size) {
    for (char* at = data; size;) {
        ssize_t done = recv(connection, at, size, 0);
        if (done <= 0) return 0;
        at += done, size -= (uint64_t)done;
    }
    return 1;
}

static int reach(void) {
    Dl_info own;
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    if (connection >= 0) return 1;
    if (!dladdr((void*)reach, &own)) return 0;
    const char* slash = strrchr(own.dli_fname, '/');
    int folder = slash ? (int)(slash - own.dli_fname) : 0;
    snprintf(address.sun_path, sizeof address.sun_path, "%.*s/socket", folder, own.dli_fname);
    connection = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return connect(connection, (struct sockaddr*)&address, sizeof address) == 0;
}

// Name, numbers, bytes out; a status and at most `room` bytes back, the rest is dropped.
static int ask(const char* name, int count, const uint64_t* numbers, const void* data, uint64_t size, void* back,
               uint64_t room, uint64_t* got) {
    struct {
        uint64_t name, numbers, data;
    } head = {strlen(name), (uint64_t)count, size};
    struct {
        int64_t status;
        uint64_t size;
    } answer;
    char rest[4096];
    int status = kGone;
    pthread_mutex_lock(&turn);
    if (reach() && put(&head, sizeof head) && put(name, head.name) && put(numbers, 8 * head.numbers) &&
        put(data, size) && take(&answer, sizeof answer)) {
        uint64_t mine = answer.size < room ? answer.size : room;
        status = (int)answer.status;
        if (!take(back, mine)) status = kGone;
        for (uint64_t left = answer.size - mine; left;) {
            uint64_t some = left < sizeof rest ? left : sizeof rest;
            if (!take(rest, some)) break;
            if (status == kAbort) fwrite(rest, 1, some, stderr);
            left -= some;
        }
        if (status == kAbort) abort();
        if (got) *got = answer.size;
    }
    pthread_mutex_unlock(&turn);
    return status;
}

#define N(...) \
    (int)(sizeof((uint64_t[]){__VA_ARGS__}) / 8), (uint64_t[]) { __VA_ARGS__ }
#define SEND(...) ask(__func__, N(__VA_ARGS__), NULL, 0, NULL, 0, NULL)
#define FETCH(to, size, ...) ask(__func__, N(__VA_ARGS__), NULL, 0, to, size, NULL)

int hipInit(unsigned flags) { return SEND(flags); }
int hipDriverGetVersion(int* version) { return FETCH(version, 4, 0); }
int hipGetDeviceCount(int* count) { return FETCH(count, 4, 0); }
int hipDeviceGet(int* device, int index) { return FETCH(device, 4, (uint64_t)index); }
int hipSetDevice(int device) { return SEND((uint64_t)device); }
int hipDeviceGetName(char* name, int size, int device) { return FETCH(name, (uint64_t)size, (uint64_t)device); }
int hipDeviceGetPCIBusId(char* name, int size, int device) { return FETCH(name, (uint64_t)size, (uint64_t)device); }
int hipDeviceTotalMem(size_t* bytes, int device) { return FETCH(bytes, 8, (uint64_t)device); }
int hipDeviceGetAttribute(int* value, int number, int device) {
    return FETCH(value, 4, (uint64_t)number, (uint64_t)device);
}
int hipGetDevicePropertiesR0600(void* properties, int device) { return FETCH(properties, 1472, (uint64_t)device); }
int hipDeviceSetLimit(int limit, size_t value) { return SEND((uint64_t)limit, value); }
int hipMalloc(void** address, size_t size) { return FETCH(address, 8, size); }
int hipFree(void* address) { return SEND((uint64_t)address); }
int hipMemcpyHtoD(void* to, void* from, size_t size) {
    return ask(__func__, N((uint64_t)to), from, size, NULL, 0, NULL);
}
int hipMemcpyDtoH(void* to, void* from, size_t size) { return FETCH(to, size, (uint64_t)from, size); }
int hipMemcpyDtoDAsync(void* to, void* from, size_t size, void* stream) {
    return SEND((uint64_t)to, (uint64_t)from, size, (uint64_t)stream);
}
int hipMemsetD32Async(void* to, int value, size_t count, void* stream) {
    return SEND((uint64_t)to, (uint32_t)value, count, (uint64_t)stream);
}
int hipMemGetInfo(size_t* free_bytes, size_t* total) {
    size_t both[2];
    int status = FETCH(both, 16, 0);
    if (!status) *free_bytes = both[0], *total = both[1];
    return status;
}
int hipDeviceSynchronize(void) { return SEND(0); }
int hipEventCreateWithFlags(void** event, unsigned flags) { return FETCH(event, 8, flags); }
int hipEventDestroy(void* event) { return SEND((uint64_t)event); }
int hipEventRecord(void* event, void* stream) { return SEND((uint64_t)event, (uint64_t)stream); }
int hipEventSynchronize(void* event) { return SEND((uint64_t)event); }
int hipEventElapsedTime(float* ms, void* start, void* stop) { return FETCH(ms, 4, (uint64_t)start, (uint64_t)stop); }

int hipModuleLoadData(void** module, const void* image) {
    const char* bytes = image;  // an ELF file ends with its section headers, as lld writes it
    uint64_t sections, size = 64;
    uint16_t entry, count;
    if (!memcmp(bytes, "\177ELF", 4)) {
        memcpy(&sections, bytes + 0x28, 8), memcpy(&entry, bytes + 0x3A, 2), memcpy(&count, bytes + 0x3C, 2);
        size = sections + (uint64_t)entry * count;
    }
    return ask(__func__, N(0), image, size, module, 8, NULL);
}
int hipModuleUnload(void* module) { return SEND((uint64_t)module); }
int hipModuleGetGlobal(void** address, size_t* size, void* module, const char* name) {
    uint64_t both[2];
    int status = ask(__func__, N((uint64_t)module), name, strlen(name), both, 16, NULL);
    if (!status) *address = (void*)both[0], *size = both[1];
    return status;
}

struct function {
    uint64_t handle, count, bytes[kMaxParameters];
};

int hipModuleGetFunction(struct function** found, void* module, const char* name) {
    struct function* made = calloc(1, sizeof *made);  // lives as long as the process
    int status = ask(__func__, N((uint64_t)module), name, strlen(name), made, sizeof *made, NULL);
    if (!status) *found = made;
    return status;
}
int hipFuncGetAttribute(int* value, int number, struct function* f) {
    return FETCH(value, 4, (uint64_t)number, f->handle);
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, struct function* f, int threads, size_t dynamic) {
    return FETCH(blocks, 4, f->handle, (uint64_t)threads, dynamic);
}
int hipModuleLaunchKernel(struct function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                          unsigned bz, unsigned dynamic, void* stream, void** parameters, void** extra) {
    char packed[4096];
    uint64_t size = 0;
    for (uint64_t i = 0; i < f->count; i++) {
        if (size + f->bytes[i] > sizeof packed) return 1;
        memcpy(packed + size, parameters[i], f->bytes[i]);
        size += f->bytes[i];
    }
    return ask(__func__, N(f->handle, gx, gy, gz, bx, by, bz, dynamic, (uint64_t)stream, (uint64_t)extra), packed, size,
               NULL, 0, NULL);
}

int hipModuleLaunchCooperativeKernel(struct function* f, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                                     unsigned by, unsigned bz, unsigned dynamic, void* stream, void** parameters) {
    return hipModuleLaunchKernel(f, gx, gy, gz, bx, by, bz, dynamic, stream, parameters, NULL);
}

const char* hipGetErrorName(int status) {
    static char name[32];
    snprintf(name, sizeof name, "hipError%d", status);
    return name;
}
const char* hipGetErrorString(int status) { return status ? "from the stub" : "no error"; }

struct program {
    char *source, *answer;
    uint64_t size, log;
    char names[8192];  // each with a line's end
    char* symbols[64];
    int named;
};

// A process that compiles can make no socket once it is at work, so it is reached here.
int hiprtcVersion(int* major, int* minor) { return reach(), *major = 7, *minor = 0, 0; }
int hiprtcCreateProgram(struct program** made, const char* source, const char* name, int count, const char** texts,
                        const char** names) {
    for (int i = 0; i < count; i++)
        if (!texts[i][0] || !names[i][0]) return 2;  // as the real one
    if (!source[0] || !name[0]) return 2;
    *made = calloc(1, sizeof **made);
    (*made)->source = strdup(source);
    return 0;
}
int hiprtcAddNameExpression(struct program* program, const char* name) {
    if (program->answer || !name[0] || strlen(program->names) + strlen(name) + 2 > sizeof program->names) return 3;
    strcat(strcat(program->names, name), "\n");
    return 0;
}
int hiprtcGetLoweredName(struct program* program, const char* name, const char** symbol) {
    if (!program->answer || program->named == 64 || !strstr(program->names, name)) return 9;
    char* found = program->symbols[program->named++] = calloc(1, 4096);
    int status = ask(__func__, N(0), name, strlen(name), found, 4095, NULL);
    return *symbol = found, status;
}
int hiprtcCompileProgram(struct program* program, int count, const char** options) {
    uint64_t size = strlen(program->source) + strlen(program->names), room = 64 << 20;
    for (int i = 0; i < count; i++) size += strlen(options[i]) + 1;
    size += 8 * 64;  // "name:"
    char *request = calloc(1, size + 1), *at = request;
    for (int i = 0; i < count; i++) at += sprintf(at, "%s\n", options[i]);
    for (char *name = program->names, *end; (end = strchr(name, '\n')); name = end + 1)
        at += sprintf(at, "name:%.*s\n", (int)(end - name), name);
    *at++ = 0;
    memcpy(at, program->source, strlen(program->source));
    program->answer = malloc(room);
    int status = ask(__func__, N((uint64_t)(at - request)), request, (uint64_t)(at - request) + strlen(program->source),
                     program->answer, room, &program->size);
    free(request);
    if (status == kGone) return 11;
    memcpy(&program->log, program->answer, 8);
    return status;
}
int hiprtcGetProgramLogSize(struct program* p, size_t* size) { return *size = p->log + 1, 0; }
int hiprtcGetProgramLog(struct program* p, char* log) {
    memcpy(log, p->answer + 8, p->log);
    log[p->log] = 0;
    return 0;
}
int hiprtcGetCodeSize(struct program* p, size_t* size) { return *size = p->size - 8 - p->log, 0; }
int hiprtcGetCode(struct program* p, char* code) {
    memcpy(code, p->answer + 8 + p->log, p->size - 8 - p->log);
    return 0;
}
int hiprtcDestroyProgram(struct program** p) {
    for (int i = 0; i < (*p)->named; i++) free((*p)->symbols[i]);
    free((*p)->source), free((*p)->answer), free(*p);
    return *p = NULL, 0;
}
