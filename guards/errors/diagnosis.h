// guards/errors/diagnosis.h - what an error about shapes asks for.
//
//   for (const Diagnosis& d : diagnose(read_errors(text))) {
//     d.kind;          // DiagnosisKind::kNeededCheck
//     d.conditions;    // {"Ne(u0, 1)"}: together, and no more, they end it
//     d.code;          // {"torch._check(y.shape[0] != 1)"}
//     d.file, d.line;  // insert before this line
//   }
//
// The conditions are the weakest that decide the question on the side that the
// program takes, simplified by what the text says is known.  Nothing is
// invented: a symbol has a name of the program where the text says so, and
// `code` is empty where one has none.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "guards/errors/error_text.h"

namespace proviso::inline v0_2::internal {

enum class DiagnosisKind {
  kImplied,        // what is known decides it: the check says so to PyTorch
  kNeededCheck,    // a promise about sizes is missing
  kRealBranch,     // both sides are programs: a check restricts the inputs
  kContradiction,  // what is promised cannot hold
  kDimSpec,        // a promise about input dims that the program breaks
  kBugInOp,        // an operator, or the compiler, cannot do it
};
std::string_view name_of(DiagnosisKind kind);  // "needed_check", ...

struct Diagnosis {
  DiagnosisKind kind = DiagnosisKind::kNeededCheck;
  std::string question;                      // as PyTorch asked it
  std::optional<bool> answer;                // of it, where `conditions` hold
  std::vector<std::string> conditions;       // in the text's symbols
  std::vector<std::string> code;             // lines to insert; all of them
  std::vector<std::string> excludes;         // conditions of the other side
  std::vector<std::string> other_code;       // its lines
  std::vector<std::string> facts;            // that decide it, or contradict
  std::map<std::string, std::string> names;  // u0: y.shape[0]
  std::map<std::string, std::string> made;   // u0: where it was made
  std::string file, source_line;             // where the question arises
  int line = 0;
  std::string why;             // sentences
  std::string counterexample;  // u0 = 1: known facts hold, the check does not
  std::string stream;          // the process, where several wrote
  uint32_t text_line = 0;
  uint32_t times = 1;
};

// The order is that of the text; what several processes say alike is one.
std::vector<Diagnosis> diagnose(const ErrorText& text);

// What was not read, in one line; empty where all was.
std::string unread_note(const ErrorText& text);

}  // namespace proviso::inline v0_2::internal
