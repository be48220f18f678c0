// SPDX-License-Identifier: Apache-2.0
// Threads and files in memory that stay, and such that go. Prints what is left: "stack BYTES" for
// each thread that lives, with what it touched, "file BYTES" for each file that is held unmapped.
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr size_t kKilo = 1024;

void touch(volatile char* memory, size_t bytes) {
  for (size_t at = 0; at < bytes; at += 4096) {
    memory[at] = 1;
  }
}

template <size_t kBytes>
[[gnu::noinline]] void use_stack() {
  volatile char scratch[kBytes];
  touch(scratch, kBytes);
}

int filled_file(const char* name, size_t bytes) {
  const int fd = memfd_create(name, MFD_CLOEXEC);
  const std::string text(bytes, 'x');
  if (fd < 0 || write(fd, text.data(), bytes) != static_cast<ssize_t>(bytes)) {
    abort();
  }
  return fd;
}

void* wait_for_ever(void* ready) {
  use_stack<512 * kKilo>();
  pthread_barrier_wait(static_cast<pthread_barrier_t*>(ready));
  for (;;) {
    pause();
  }
}

void* leave_early(void*) {
  use_stack<256 * kKilo>();
  pthread_exit(nullptr);
}

void stay(pthread_barrier_t& ready, const pthread_attr_t* attributes) {
  pthread_t thread;
  if (pthread_create(&thread, attributes, wait_for_ever, &ready) != 0) {
    abort();
  }
  pthread_detach(thread);
}

}  // namespace

int main() {
  pthread_barrier_t ready;
  pthread_barrier_init(&ready, nullptr, 4);
  pthread_attr_t small;
  pthread_attr_init(&small);
  pthread_attr_setstacksize(&small, 1024 * kKilo);
  stay(ready, nullptr);
  stay(ready, &small);
  // On memory of its own: no stack that libc makes.
  std::vector<char> own(1024 * kKilo + 4096);
  pthread_attr_t with_stack;
  pthread_attr_init(&with_stack);
  pthread_attr_setstack(&with_stack, own.data(), 1024 * kKilo);
  stay(ready, &with_stack);
  pthread_barrier_wait(&ready);
  printf("stack %zu\nstack %zu\n", 512 * kKilo, 512 * kKilo);
  // These end in three ways; the first returns something that must arrive.
  for (int i = 0; i < 20; ++i) {
    pthread_t thread;
    void* result = nullptr;
    const auto echo = [](void* argument) { return argument; };
    if (pthread_create(&thread, nullptr, echo, &result) != 0 ||
        pthread_join(thread, &result) != 0 || result != &result ||
        pthread_create(&thread, nullptr, leave_early, nullptr) != 0 ||
        pthread_join(thread, nullptr) != 0) {
      abort();
    }
    const auto sleep = [](void*) -> void* { return pause(), nullptr; };
    if (pthread_create(&thread, nullptr, sleep, nullptr) != 0 || pthread_cancel(thread) != 0 ||
        pthread_join(thread, &result) != 0 || result != PTHREAD_CANCELED) {
      abort();
    }
  }

  filled_file("kept", 300 * kKilo);
  printf("file %zu\n", 300 * kKilo);
  close(filled_file("closed", 200 * kKilo));
  // Mapped, it is a mapping; unmapped again, it is held.
  const int mapped = filled_file("mapped", 128 * kKilo);
  mmap(nullptr, 128 * kKilo, PROT_READ | PROT_WRITE, MAP_SHARED, mapped, 0);
  const int once = filled_file("once", 500 * kKilo);
  munmap(mmap(nullptr, 500 * kKilo, PROT_READ | PROT_WRITE, MAP_SHARED, once, 0), 500 * kKilo);
  printf("file %zu\n", 500 * kKilo);
  // Without a descriptor, by its name alone; and one without either.
  const std::string name = "/plateau-holdings-" + std::to_string(getpid());
  for (const char* ending : {"-kept", "-gone"}) {
    const int fd = shm_open((name + ending).c_str(), O_CREAT | O_EXCL | O_RDWR, 0600);
    if (fd < 0 || posix_fallocate(fd, 0, 64 * kKilo) != 0) {
      abort();
    }
    close(fd);
  }
  shm_unlink((name + "-gone").c_str());
  printf("file %zu\n", 64 * kKilo);
  // The next holding is the occasion to look at all of them.
  close(memfd_create("last", MFD_CLOEXEC));
  fflush(stdout);
  shm_unlink((name + "-kept").c_str());
  _exit(0);
}
