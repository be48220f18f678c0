// SPDX-License-Identifier: Apache-2.0
// Reads files off the serving thread: one thread with a Shelf of its own, wishes in, a catalogue
// out.
//
// The serving thread never waits here. It asks for what it wants and gets a ticket; when fd() is
// readable, something was done, and done() tells what. What it shows is the last catalogue. Equal
// wishes that wait are one wish.
//
// Limits. limited_file.h bounds the size of what is read and the time of unpacking it. Should a
// wish keep the thread for longer than `most_s` all the same, the thread is given up: it may not be
// ended by force, so it is left to itself, another takes its place with a new Shelf, and the file
// is not read again before it changes. After kMostGivenUp of those nothing is read any more, and
// that is told.
//
// All methods are for the serving thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "serve/shelf.h"

namespace plateau {

class Reader {
 public:
  static constexpr int kMostGivenUp = 4;

  struct Wish {
    enum class Kind : uint8_t {
      list,        // Which files there are, and read those that changed, for a third of a second.
      run,         // One run, if it changed.
      page,        // Its page.
      comparison,  // Of two runs, "before,after".
    };
    Kind kind = Kind::list;
    std::string id = {};
    bool even_if_soon = false;
    bool operator==(const Wish&) const = default;
  };

  explicit Reader(ShelfOptions options, double most_s = 15);
  ~Reader();
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  uint64_t ask(const Wish& wish);
  [[nodiscard]] bool done(uint64_t ticket) const;
  // For how long the reader has been at one wish; 0 if it has none.
  [[nodiscard]] double busy_s() const;
  // How long ago it was last looked which files there are; a large number if never.
  [[nodiscard]] double age_s() const;
  // For poll(): readable when something was done since news().
  [[nodiscard]] int fd() const;
  // Takes the latest catalogue; gives a thread up that is stuck.
  void news();
  // Never null; the same until news().
  [[nodiscard]] const std::shared_ptr<const Catalogue>& catalogue() const { return catalogue_; }

  struct Desk;  // What both threads share.

 private:
  void start();
  void give_up();
  [[nodiscard]] bool is_stuck() const;

  ShelfOptions options_;
  double most_s_;
  int given_up_ = 0;
  std::shared_ptr<Desk> desk_;
  std::shared_ptr<const Catalogue> catalogue_ = std::make_shared<const Catalogue>();
};

}  // namespace plateau
