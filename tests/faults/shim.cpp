// Faults on demand, for the tests of this folder; loaded by LD_PRELOAD.
//
// fault_kill_at(n, folder): the n-th step on a file of that folder (a write, a truncation, a
// flush to disk, a rename, a removal) ends the process as `kill -9` does, before the step.
// fault_fail_at(n): the n-th memory allocation of omnitree's compiled code from now on fails.
// fault_seen(): how many steps, or allocations, there were since.
#include <dlfcn.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#include <atomic>
#include <new>

static std::atomic<long> steps{0}, kill_at{-1}, allocations{0}, fail_at{-1};
static char folder[4096];

extern "C" {
void fault_kill_at(long n, const char* where) {
  strncpy(folder, where, sizeof folder - 1);
  steps = 0;
  kill_at = n;
}
void fault_fail_at(long n) {
  allocations = 0;
  fail_at = n;
}
long fault_seen(void) { return kill_at >= 0 ? steps : allocations; }
}

static void step(const char* path) {
  if (kill_at < 0 || strncmp(path, folder, strlen(folder)) != 0) return;
  if (++steps == kill_at) kill(getpid(), SIGKILL);
}

static void step_of(int fd) {
  if (kill_at < 0) return;
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t n = readlink(link, path, sizeof path - 1);
  if (n <= 0) return;
  path[n] = 0;
  step(path);
}

template <class F>
static F real(const char* name) {
  return reinterpret_cast<F>(dlsym(RTLD_NEXT, name));
}

extern "C" {
ssize_t write(int fd, const void* data, size_t n) {
  static const auto call = real<ssize_t (*)(int, const void*, size_t)>("write");
  step_of(fd);
  return call(fd, data, n);
}
ssize_t pwrite64(int fd, const void* data, size_t n, off64_t at) {
  static const auto call = real<ssize_t (*)(int, const void*, size_t, off64_t)>("pwrite64");
  step_of(fd);
  return call(fd, data, n, at);
}
int ftruncate64(int fd, off64_t n) {
  static const auto call = real<int (*)(int, off64_t)>("ftruncate64");
  step_of(fd);
  return call(fd, n);
}
int fsync(int fd) {
  static const auto call = real<int (*)(int)>("fsync");
  step_of(fd);
  return call(fd);
}
int fdatasync(int fd) {
  static const auto call = real<int (*)(int)>("fdatasync");
  step_of(fd);
  return call(fd);
}
int rename(const char* from, const char* to) {
  static const auto call = real<int (*)(const char*, const char*)>("rename");
  step(to);
  return call(from, to);
}
int unlink(const char* path) {
  static const auto call = real<int (*)(const char*)>("unlink");
  step(path);
  return call(path);
}
}

// Only what the kernels ask for counts: the caller's library says whose allocation it is.
static bool fails(void* caller) {
  if (fail_at < 0) return false;
  Dl_info info;
  if (!dladdr(caller, &info) || !info.dli_fname || !strstr(info.dli_fname, "omnitree/_core"))
    return false;
  return ++allocations == fail_at;
}

void* operator new(size_t n) {
  if (fails(__builtin_return_address(0))) throw std::bad_alloc();
  if (void* found = malloc(n ? n : 1)) return found;
  throw std::bad_alloc();
}
void* operator new[](size_t n) {
  if (fails(__builtin_return_address(0))) throw std::bad_alloc();
  if (void* found = malloc(n ? n : 1)) return found;
  throw std::bad_alloc();
}
void operator delete(void* p) noexcept { free(p); }
void operator delete[](void* p) noexcept { free(p); }
void operator delete(void* p, size_t) noexcept { free(p); }
void operator delete[](void* p, size_t) noexcept { free(p); }
