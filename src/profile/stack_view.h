// SPDX-License-Identifier: Apache-2.0
// What a reader wants to see of a call stack: the program's and its libraries' calls, without the
// machinery of allocators, the C++ library and the Python interpreter.
//
// Hidden are, from the inside: malloc and its family, operator new, allocators and containers of
// the C++ library, the interpreter's own functions as long as there is a line of Python, and what
// starts threads and programs. Frames of a library without symbols are one frame, the library. If
// nothing would be left, the innermost frame is kept.
//
// Worked case: malloc < ImagingNewBlock [_imaging.so] < _PyEval_Vector < load (ImageFile.py:245)
// < method_vectorcall < main (train.py:41) < _start is shown as ImagingNewBlock, load, main. The
// site of growth is the first of them; where that is native and Python called it, both are named.
//
// Blind spot: a function of a program that is called like one of an allocator is hidden too;
// --full shows everything.
#pragma once

#include <string>
#include <vector>

#include "symbols/stack_names.h"

namespace plateau {

// The frames to show, innermost first.
std::vector<FrameName> visible_frames(const std::vector<FrameName>& frames);

// "decode" of "std::vector<int> img::decode(char const*)": without return type and parameters;
// long template arguments become "<...>". "" if nothing is known.
std::string short_function(const FrameName& frame);

// "PIL/ImageFile.py" of a path: the last two parts, one if it is not below a package directory.
std::string short_file(const std::string& path);

// "load (PIL/ImageFile.py:245)", "ImagingNewBlock [_imaging.so]", "_imaging.so+0x1234".
std::string frame_words(const FrameName& frame);

// What makes two frames the same call to a reader: function and file, or module. With `lines` also
// the line.
std::string frame_key(const FrameName& frame, bool lines);

// The site of growth in one line, of visible frames:
// "ImagingNewBlock [_imaging.so] called from load (PIL/ImageFile.py:245) <- getpixel <- main
// (lazy_images.py:41)". "(no stack)" if there are none.
std::string site_title(const std::vector<FrameName>& frames);

// The same for a margin: only the innermost line of Python, or else the innermost call.
std::string site_place(const std::vector<FrameName>& frames);

}  // namespace plateau
