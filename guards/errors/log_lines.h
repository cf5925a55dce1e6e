// guards/errors/log_lines.h - the lines that programs wrote, out of a log.
//
//   LogLines log("(EngineCore pid=7) ERROR 12-15 12:35:11 [core.py:8] u0\n");
//   log.lines()[0].text;     // u0
//   log.lines()[0].stream;   // of "(EngineCore pid=7)"
//
// What people paste is printed by loggers, launchers of many ranks, engines,
// containers and test runners, each with a prefix of its own, and coloured; and
// was typeset by pages and mails (&gt;, curly quotation marks).  All of it is
// taken away; which process wrote a line is kept, so that what several wrote at
// once comes apart again.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace proviso::inline v0_2::internal {

struct LogLine {
  std::string_view text;   // nothing of a prefix; its own indentation is kept
  uint32_t stream = 0;     // the number of the process that wrote it
  uint32_t number = 0;     // from 1, in the text that was given
  bool is_record = false;  // a logger of torch wrote it, with level and place
};

class LogLines {
 public:
  // A copy of the text is kept: the lines are views of it.  What lies past
  // fixed::log_text is left out.
  explicit LogLines(std::string_view text);
  LogLines(const LogLines&) = delete;
  LogLines& operator=(const LogLines&) = delete;

  const std::vector<LogLine>& lines() const { return lines_; }
  // Names of the processes: "" for none named, "rank0", "EngineCore pid=7".
  const std::vector<std::string>& streams() const { return streams_; }
  bool was_cut() const { return was_cut_; }

 private:
  uint32_t stream_number(const std::string& name);

  std::string text_;
  std::vector<LogLine> lines_;
  std::vector<std::string> streams_;
  std::unordered_map<std::string, uint32_t> number_of_;  // of a stream
  bool was_cut_ = false;
};

}  // namespace proviso::inline v0_2::internal
