#include "tracer_adapter/trace/error_text.h"

#include <c10/util/Exception.h>

namespace proviso::inline v0_2 {

namespace {

// Of any exception, without what is PyTorch's own business.
std::string cleaned(const std::exception& error) {
  const auto* torch = dynamic_cast<const c10::Error*>(&error);
  std::string text = torch ? torch->what_without_backtrace() : error.what();
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
  const std::string text = cleaned(error);
  if (text.size() <= kMost) return text;
  return text.substr(0, kMost) + " ... (" +
         std::to_string(text.size() - kMost) + " characters more)";
}

}  // namespace proviso::inline v0_2
