// guards/errors/frames.h - lines of stacks, as the many printers write them.
//
//   frame_in("File \"model.py\", line 3, in forward")->line;   // 3
//   place_in("model.py:3 in forward")->function;              // forward
//   is_of_torch("/x/site-packages/torch/_refs/__init__.py");  // true
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace proviso::inline v0_2::internal {

struct TextFrame {
  std::string file;
  int line = 0;
  std::string function;
  std::string code;  // of the line, where the text shows it
  bool is_known() const { return !file.empty(); }
};

// Whether the file is PyTorch's own; its path may begin within torch/.
bool is_of_torch(std::string_view file);

// Neither PyTorch's nor generated code.
bool is_of_program(const TextFrame& frame);

// The innermost of the program; null where there is none.
const TextFrame* last_of_program(const std::vector<TextFrame>& frames);

// Paths of which one may be cut off at the left.
bool is_same_file(std::string_view a, std::string_view b);

//   File "x.py", line 3, in f         a traceback
//   File x.py, lineno 3, in f         draft_export
//   File x.py:3, in f(a)              IPython
//   Cell In[3], line 10, in f(a)      a notebook
//   x.py:3: in f                      pytest
std::optional<TextFrame> frame_in(std::string_view text);

// "dir/model.py:11 in forward"
std::optional<TextFrame> place_in(std::string_view text);

// ^^^^ ~~~~ under a line of code
bool is_underline(std::string_view text);

// The code of IPython's "--> 12     y = x.item()".
std::optional<std::string_view> code_at_arrow(std::string_view text);

// The variable that a line of code makes: `n` of "n = m.sum().item()".
std::optional<std::string_view> assigned_in(std::string_view code);

}  // namespace proviso::inline v0_2::internal
