#include "tracer_adapter/trace/error_text.h"

#include <c10/util/Exception.h>

#include "tracer_adapter/ir/printable.h"

namespace proviso::inline v0_2 {

namespace {

// What PyTorch's allocator says of itself, in words about the program; "" of
// other texts.
std::string memory_text(const std::string& text) {
  if (text.find("alloc_cpu") == std::string::npos) return "";
  const std::string_view rest = text;
  static constexpr std::string_view kAsked = "you tried to allocate ";
  const size_t asked = rest.find(kAsked);
  const size_t first = asked == rest.npos ? rest.npos : asked + kAsked.size();
  const size_t last = rest.find_first_not_of("0123456789", first);
  const size_t node = rest.find("(in node ");
  const std::string bytes =
      first == rest.npos ? "more memory than there can be"
                         : std::string(rest.substr(first, last - first)) +
                               " bytes of memory, more than there is";
  return "the program asks for " + bytes +
         (node == rest.npos ? "" : " " + std::string(rest.substr(node)));
}

// Of any exception, without what is PyTorch's own business.
std::string cleaned(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch ? torch->what_without_backtrace() : error.what();
  if (std::string memory = memory_text(text); !memory.empty()) return memory;
  // A list of every backend, and an advice to employees of Facebook.
  if (const size_t cause = text.find(" This could be because the operator ");
      cause != std::string::npos)
    return text.substr(0, cause);
  static constexpr std::string_view kFailed = " INTERNAL ASSERT FAILED at ";
  static constexpr std::string_view kReport = "please report a bug to PyTorch.";
  const size_t failed = text.find(kFailed);
  const size_t report = text.find(kReport, failed);
  if (failed == std::string::npos || report == std::string::npos) return text;
  const std::string condition = text.substr(0, failed);
  std::string rest = text.substr(report + kReport.size());
  rest.erase(0, rest.find_first_not_of(' '));
  // What is left may be the place alone.
  return rest.empty() || rest.starts_with("(in node")
             ? "PyTorch found that this does not hold: " + condition +
                   (rest.empty() ? "" : " ") + rest
             : rest;
}

}  // namespace

std::string error_text(const std::exception& error) {
  constexpr size_t kMost = 3000;
  const std::string text = printable(cleaned(error));
  if (text.size() <= kMost) return text;
  return text.substr(0, kMost) + " ... (" +
         std::to_string(text.size() - kMost) + " characters more)";
}

}  // namespace proviso::inline v0_2
