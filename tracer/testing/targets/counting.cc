// SPDX-License-Identifier: Apache-2.0
// Allocates in every way there is and keeps its own books, which the tracer's must equal.
//
//   counting [THREADS]
//
// Says "ready", waits for its input to end, works, and prints the stamps of beginning and end of
// the work and every block of its own that is alive, with the size that was asked for.
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "tracer/segment.h"

namespace {

constexpr size_t kBook = size_t{1} << 15;
struct Entry {
  uint64_t address = 0;
  uint64_t bytes = 0;
};
Entry book[kBook];
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

Entry& entry_of(uint64_t address) {
  size_t at = (address >> 4) * 0x9e3779b97f4a7c15 >> 49;
  while (book[at].address != 0 && book[at].address != address) {
    at = (at + 1) % kBook;
  }
  return book[at];
}

void* keep(void* block, size_t bytes) {
  if (block == nullptr) {
    abort();
  }
  pthread_mutex_lock(&lock);
  entry_of(reinterpret_cast<uint64_t>(block)) = {reinterpret_cast<uint64_t>(block), bytes + 1};
  pthread_mutex_unlock(&lock);
  return block;
}

// Bytes are kept plus 1, so that 0 means "gone" and the address goes on leading the search.
void* drop(void* block) {
  if (block != nullptr) {
    pthread_mutex_lock(&lock);
    entry_of(reinterpret_cast<uint64_t>(block)).bytes = 0;
    pthread_mutex_unlock(&lock);
  }
  return block;
}

void* allocate(unsigned how, size_t bytes) {
  void* block = nullptr;
  switch (how) {
    case 0:
      return keep(malloc(bytes), bytes);
    case 1:
      return keep(calloc(3, bytes), 3 * bytes);
    case 2:
      return keep(memalign(64, bytes), bytes);
    case 3:
      return keep(aligned_alloc(32, bytes / 32 * 32), bytes / 32 * 32);
    case 4:
      return posix_memalign(&block, 256, bytes) == 0 ? keep(block, bytes) : nullptr;
    case 5:
      return keep(valloc(bytes), bytes);
    case 6:
      return keep(reallocarray(nullptr, bytes, 2), 2 * bytes);
    default:
      return keep(strdup("nineteen characters"), 20);
  }
}

void* resize(void* block, size_t bytes) {
  drop(block);
  return keep(realloc(block, bytes), bytes);
}

// Blocks of operator new must go the way they came.
struct Object {
  char* array;
  double* single;
  struct alignas(128) Wide {
    char bytes[256];
  }* wide;
};

Object make_object(size_t bytes) {
  return {static_cast<char*>(keep(new char[bytes], bytes)),
          static_cast<double*>(keep(new double(1), sizeof(double))),
          static_cast<Object::Wide*>(keep(new (std::nothrow) Object::Wide, 256))};
}

void end_object(const Object& object) {
  drop(object.array);
  delete[] object.array;
  drop(object.single);
  delete object.single;
  drop(object.wide);
  delete object.wide;
}

void* work(void* argument) {
  uint64_t random = *static_cast<uint64_t*>(argument);
  void* blocks[64] = {};
  Object objects[16] = {};
  for (int i = 0; i < 4000; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    void*& block = blocks[random % 64];
    const size_t bytes = 32 + (random >> 20) % (i % 50 == 0 ? 300'000 : 3'000);
    if (random % 5 == 0) {
      block = resize(block, bytes);
    } else {
      free(drop(block));
      block = allocate(static_cast<unsigned>(random >> 10) % 8, bytes);
    }
    Object& object = objects[(random >> 30) % 16];
    end_object(object);
    object = make_object(bytes);
  }
  free(nullptr);
  // A request that cannot be met leaves the block as it was.
  blocks[0] = blocks[0] != nullptr ? blocks[0] : allocate(0, 10);
  volatile size_t too_much = SIZE_MAX / 2;
  if (realloc(blocks[0], too_much) != nullptr || malloc(too_much) != nullptr) {
    abort();
  }
  return nullptr;
}

}  // namespace

int main(int argc, char** argv) {
  const int threads = argc > 1 ? atoi(argv[1]) : 0;
  static char buffer[BUFSIZ];
  setvbuf(stdout, buffer, _IOFBF, sizeof(buffer));
  void* early = malloc(1'000'000);  // So that there is a segment when the account is asked for.
  printf("ready\n");
  fflush(stdout);
  char byte = 0;
  while (read(0, &byte, 1) > 0) {
  }
  const uint64_t begin = plateau::trace::trace_stamp();
  uint64_t seeds[8] = {1234567, 2, 3, 4, 5, 6, 7, 8};
  if (threads == 0) {
    work(&seeds[0]);
  }
  pthread_t ids[8];
  for (int i = 0; i < threads; ++i) {
    pthread_create(&ids[i], nullptr, work, &seeds[i]);
  }
  for (int i = 0; i < threads; ++i) {
    pthread_join(ids[i], nullptr);
  }
  const uint64_t end = plateau::trace::trace_stamp();
  printf("window %llu %llu\n", static_cast<unsigned long long>(begin),
         static_cast<unsigned long long>(end));
  for (const Entry& entry : book) {
    if (entry.bytes > 0) {
      printf("block %llu %llu\n", static_cast<unsigned long long>(entry.address),
             static_cast<unsigned long long>(entry.bytes - 1));
    }
  }
  free(early);
  fflush(stdout);
  _exit(0);
}
