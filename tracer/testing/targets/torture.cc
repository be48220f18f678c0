// SPDX-License-Identifier: Apache-2.0
// Everything that is hard on an allocator's guest, at the same time: threads that allocate in all
// ways, forks, signals that interrupt, handlers that allocate, plugins that come and go,
// exceptions, threads that end in every way, allocations before main and after it, and an exec of
// itself at the end. What it prints depends on nothing but the arguments: the tracer must not
// change it.
//
//   torture PLUGIN [ROUNDS [SECOND]]
#include <dlfcn.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

namespace {

struct Random {
  uint64_t state;
  uint64_t next() {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
  }
};

[[noreturn]] void fail(const char* what) {
  dprintf(1, "torture: %s\n", what);
  _exit(99);
}

// ---- Before main and after it.

struct Early {
  std::vector<std::string> words;
  Early() {
    for (size_t i = 0; i < 200; ++i) {
      words.emplace_back(i * 3, 'e');
    }
  }
  ~Early() {
    size_t sum = 0;
    for (const std::string& word : std::vector<std::string>(words)) {
      sum += word.size();
    }
    dprintf(1, "late %zu\n", sum);
  }
};
Early early;

void at_exit() {
  std::vector<int> numbers(10'000, 7);
  dprintf(1, "atexit %d\n", numbers[9'999]);
}

// ---- Allocation in all ways, with contents checked.

unsigned char mark_of(const void* block) {
  return static_cast<unsigned char>(reinterpret_cast<uint64_t>(block) >> 4);
}

struct Piece {
  unsigned char* bytes = nullptr;
  size_t count = 0;
};

void fill(Piece& piece, void* block, size_t count) {
  piece = {static_cast<unsigned char*>(block), count};
  if (block == nullptr || malloc_usable_size(block) < count) {
    fail("no block");
  }
  memset(block, mark_of(block), count);
}

void check(const Piece& piece) {
  const unsigned char mark = mark_of(piece.bytes);
  for (size_t i = 0; i < piece.count; i += 61) {
    if (piece.bytes[i] != mark) {
      fail("contents changed");
    }
  }
}

void allocate(Piece& piece, Random& random) {
  const uint64_t draw = random.next();
  const size_t bytes = 1 + (draw >> 8) % (draw % 64 == 0 ? 400'000 : 2'000);
  // Up to 128: mimalloc 2.0.9 alone misses larger ones now and then.
  const size_t alignment = size_t{16} << (draw >> 32) % 4;
  errno = 77;
  void* block = nullptr;
  switch (draw % 7) {
    case 0:
      block = calloc(1, bytes);
      break;
    case 1:
      block = memalign(alignment, bytes);
      break;
    case 2:
      if (posix_memalign(&block, alignment, bytes) != 0) {
        fail("posix_memalign");
      }
      break;
    case 3:
      block = aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
      break;
    case 4:
      block = reallocarray(nullptr, bytes, 1);
      break;
    default:
      block = malloc(bytes);
  }
  if (errno != 77) {
    fail("errno changed");
  }
  if ((draw % 7 >= 1 && draw % 7 <= 3) && reinterpret_cast<uint64_t>(block) % alignment != 0) {
    fail("not aligned");
  }
  fill(piece, block, bytes);
}

void resize(Piece& piece, Random& random) {
  check(piece);
  const size_t bytes = 1 + random.next() % 5'000;
  const size_t common = piece.count < bytes ? piece.count : bytes;
  const unsigned char mark = mark_of(piece.bytes);
  void* block = realloc(piece.bytes, bytes);
  for (size_t i = 0; i < common && piece.bytes != nullptr; i += 31) {
    if (static_cast<unsigned char*>(block)[i] != mark) {
      fail("realloc lost contents");
    }
  }
  fill(piece, block, bytes);
}

uint64_t churn(uint64_t seed, int steps) {
  Random random{seed * 0x9e3779b97f4a7c15 + 1};
  Piece pieces[64];
  uint64_t sum = 0;
  for (int i = 0; i < steps; ++i) {
    Piece& piece = pieces[random.next() % 64];
    if (random.next() % 4 == 0) {
      resize(piece, random);
    } else {
      check(piece);
      free(piece.bytes);
      allocate(piece, random);
    }
    sum += piece.count;
  }
  for (Piece& piece : pieces) {
    check(piece);
    free(piece.bytes);
  }
  return sum;
}

// ---- Signals. One interrupts anything at any time and allocates nothing; one allocates, and is
// only let in where the thread is not in the allocator, which alone is allowed.

std::atomic<uint64_t> ticks{0};
void on_tick(int) {
  ticks.fetch_add(1, std::memory_order_relaxed);
}

volatile sig_atomic_t handled = 0;
void on_user(int) {
  auto* text = static_cast<char*>(malloc(3'000));
  memset(text, 's', 3'000);
  std::vector<int> numbers(500, 1);
  free(realloc(text, 9'000));
  handled = handled + numbers[499];
}

uint64_t raise_some(int count) {
  for (int i = 0; i < count; ++i) {
    raise(SIGUSR1);
  }
  return static_cast<uint64_t>(count);
}

// ---- Exceptions, also out of operator new and out of a plugin.

struct alignas(128) Wide {
  char bytes[512];
};

[[gnu::noinline]] int throw_deep(int depth) {
  const std::string local(static_cast<size_t>(depth) + 50, 'x');
  if (depth == 0) {
    throw std::out_of_range(local);
  }
  return throw_deep(depth - 1) + static_cast<int>(local.size());
}

uint64_t exceptions(int count) {
  uint64_t caught = 0;
  for (int i = 0; i < count; ++i) {
    try {
      throw_deep(i % 30);
    } catch (const std::out_of_range& error) {
      caught += strlen(error.what());
    }
    try {
      volatile size_t too_much = SIZE_MAX / 4;
      delete[] new char[too_much];
    } catch (const std::bad_alloc&) {
      ++caught;
    }
    volatile size_t too_much = SIZE_MAX / 4;
    caught += new (std::nothrow) char[too_much] == nullptr ? 1 : 0;
    const auto wide = std::make_unique<Wide>();
    caught += reinterpret_cast<uint64_t>(wide.get()) % 128 == 0 ? 1 : 0;
  }
  return caught;
}

uint64_t plugins(const char* path, unsigned rounds) {
  uint64_t sum = 0;
  for (unsigned i = 0; i < rounds; ++i) {
    void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (plugin == nullptr) {
      fail(dlerror());
    }
    auto work = reinterpret_cast<unsigned (*)(unsigned)>(dlsym(plugin, "plugin_work"));
    for (unsigned seed = 1; seed < 40; ++seed) {
      try {
        sum += work(seed * 37 + i);
      } catch (const std::runtime_error& error) {
        sum += strlen(error.what());
      }
    }
    if (dlsym(plugin, "no_such_name") != nullptr || dlerror() == nullptr || dlerror() != nullptr) {
      fail("dlerror");
    }
    dlclose(plugin);
  }
  return sum;
}

// ---- Threads that end: by returning, by pthread_exit, by being cancelled; with things to clean
// up.

pthread_key_t key;
struct Local {
  std::vector<char> bytes = std::vector<char>(1'000, 'l');
  ~Local() { std::string(2'000, 'd').swap(last); }
  std::string last;
};
thread_local Local local;

void* end_somehow(void* argument) {
  const auto how = reinterpret_cast<uint64_t>(argument);
  pthread_setspecific(key, malloc(100 + how));
  local.bytes.resize(3'000 + how);
  if (how % 3 == 0) {
    pthread_exit(malloc(10));
  }
  if (how % 3 == 1) {
    void* held = malloc(5'000);
    pthread_cleanup_push(free, held);
    for (;;) {
      pause();
    }
    pthread_cleanup_pop(1);
  }
  return malloc(20);
}

uint64_t thread_ends(uint64_t count) {
  uint64_t ended = 0;
  for (uint64_t i = 0; i < count; ++i) {
    pthread_t id{};
    if (pthread_create(&id, nullptr, end_somehow, reinterpret_cast<void*>(i)) != 0) {
      fail("pthread_create");
    }
    if (i % 3 == 1) {
      pthread_cancel(id);
    }
    void* result = nullptr;
    pthread_join(id, &result);
    if (i % 3 == 1) {
      ended += result == PTHREAD_CANCELED ? 1 : 0;
    } else {
      free(result);
      ++ended;
    }
  }
  return ended;
}

// ---- Children, while the other threads go on.

uint64_t children(int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    pid_t child = i % 2 == 0 ? fork() : -1;
    if (child == 0) {
      const uint64_t result = churn(static_cast<uint64_t>(i) + 500, 300);
      _exit(static_cast<int>(result % 100));
    }
    char* arguments[] = {const_cast<char*>("true"), nullptr};
    if (child < 0 && posix_spawn(&child, "/bin/true", nullptr, nullptr, arguments, environ) != 0) {
      fail("posix_spawn");
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (!WIFEXITED(status)) {
      fail("child was killed");
    }
    sum += static_cast<uint64_t>(WEXITSTATUS(status));
  }
  return sum;
}

uint64_t mappings(int count) {
  uint64_t sum = 0;
  for (int i = 0; i < count; ++i) {
    const size_t bytes = (static_cast<size_t>(i) % 7 + 1) * 100'000;
    auto* memory = static_cast<unsigned char*>(
        mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    memory[bytes - 1] = 5;
    memory = static_cast<unsigned char*>(mremap(memory, bytes, bytes * 2, MREMAP_MAYMOVE));
    sum += memory[bytes - 1] + memory[2 * bytes - 1];
    munmap(memory, bytes * 2);
  }
  return sum;
}

struct Task {
  unsigned number = 0;
  int rounds = 0;
  const char* plugin = nullptr;
  uint64_t sum = 0;
};

void* run_task(void* argument) {
  Task& task = *static_cast<Task*>(argument);
  for (int round = 0; round < task.rounds; ++round) {
    const auto seed = static_cast<uint64_t>(task.number * 1'000 + static_cast<unsigned>(round));
    switch (task.number % 6) {
      case 0:
      case 1:
        task.sum += churn(seed, 3'000);
        break;
      case 2:
        task.sum += exceptions(60);
        break;
      case 3:
        task.sum += plugins(task.plugin, 5);
        break;
      case 4:
        task.sum += thread_ends(12);
        break;
      default:
        task.sum += raise_some(50) + mappings(30);
    }
  }
  return nullptr;
}

void start_ticking() {
  struct sigaction action{};
  action.sa_flags = SA_RESTART;
  action.sa_handler = on_tick;
  sigaction(SIGALRM, &action, nullptr);
  action.sa_handler = on_user;
  sigaction(SIGUSR1, &action, nullptr);
  const itimerval every{.it_interval = {0, 700}, .it_value = {0, 700}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    return 2;
  }
  const int rounds = argc > 2 ? atoi(argv[2]) : 6;
  atexit(at_exit);
  pthread_key_create(&key, free);
  start_ticking();
  Task tasks[6];
  pthread_t ids[6];
  for (unsigned i = 0; i < 6; ++i) {
    tasks[i] = {.number = i, .rounds = rounds, .plugin = argv[1]};
    if (pthread_create(&ids[i], nullptr, run_task, &tasks[i]) != 0) {
      fail("pthread_create");
    }
  }
  const uint64_t from_children = children(2 * rounds);
  for (unsigned i = 0; i < 6; ++i) {
    pthread_join(ids[i], nullptr);
    printf("task %u %llu\n", i, static_cast<unsigned long long>(tasks[i].sum));
  }
  printf("children %llu handled %d\n", static_cast<unsigned long long>(from_children),
         static_cast<int>(handled));
  fflush(stdout);
  const itimerval never{};
  setitimer(ITIMER_REAL, &never, nullptr);
  if (argc <= 3) {
    // Once more as a fresh image of the same process.
    const std::string few = "1";
    execl("/proc/self/exe", argv[0], argv[1], few.c_str(), "second", nullptr);
    fail("exec");
  }
  return 0;
}
