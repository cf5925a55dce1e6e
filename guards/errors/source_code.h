// guards/errors/source_code.h - functions of the program that a text quotes.
//
//   SourceReader reader(functions, stream);
//   reader.line("    def forward(self, x):", 1);
//   reader.line("        n = x.sum().item()", 2);
//   functions[0].lines[0].code;  // n = x.sum().item()
//
// Also out of the listings that IPython puts around the line of a frame.
#pragma once

#include <string_view>
#include <vector>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

class SourceReader {
 public:
  SourceReader(std::vector<TextFunction>& functions, uint32_t stream)
      : functions_(functions), stream_(stream) {}

  // Any line, with its indentation and its number in the text.
  void line(std::string_view raw, uint32_t number);
  // A frame of a stack was read: a listing of this function may follow.
  void frame(std::string_view function) {
    listed_ = function;
    next_number_ = -1;
  }

 private:
  struct Open {  // a function whose body may go on
    size_t function, indent;
    int depth;  // of brackets, while in its head
  };
  void begin(std::string_view name, size_t indent, std::string_view code);
  bool listing(std::string_view raw);

  std::vector<TextFunction>& functions_;
  const uint32_t stream_;
  uint32_t number_ = 0;  // of the line
  std::vector<Open> open_;
  std::string listed_;    // the function of the last frame
  int next_number_ = -1;  // of a listing that goes on; -1 where none does
  size_t listing_ = 0;    // its function
};

}  // namespace proviso::inline v0_2::internal
