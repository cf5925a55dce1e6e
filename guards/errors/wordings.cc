#include "guards/errors/wordings.h"

#include "guards/errors/text_parts.h"

namespace proviso::inline v0_2::internal {
namespace {

using std::string_view;

struct Sentence {
  string_view text;
  TextErrorKind kind;
};
constexpr Sentence kQuestions[] = {
    {"Could not guard on data-dependent expression", TextErrorKind::kQuestion},
    {"Could not extract specialized integer from data-dependent expression",
     TextErrorKind::kValue},
    {"Could not extract specialized float from data-dependent expression",
     TextErrorKind::kValue},
    {"The expression we were trying to evaluate is", TextErrorKind::kQuestion},
    {"unable to evaluate the value of `", TextErrorKind::kQuestion},
};
// People quote the sentence so.
constexpr string_view kQuoted = "Could not guard on ";

constexpr Sentence kPhrases[] = {
    {"Constraints violated", TextErrorKind::kConstraint},
    {"Specializations unexpectedly required", TextErrorKind::kConstraint},
    {"Received user-specified dim hint", TextErrorKind::kConstraint},
    {"Received user-specified min/max range", TextErrorKind::kConstraint},
    {"as dynamic but your code specialized", TextErrorKind::kConstraint},
    {"as dynamic but your code specialised", TextErrorKind::kConstraint},
    {"Not all values of ", TextErrorKind::kConstraint},
    {"satisfy the generated guard", TextErrorKind::kConstraint},
    {"was inferred to be a constant (", TextErrorKind::kConstraint},
    {"must always be equal", TextErrorKind::kConstraint},
    {"must always be related by", TextErrorKind::kConstraint},
    {"Detected mismatch between the structure of", TextErrorKind::kConstraint},
    {"Constraint violation error", TextErrorKind::kConstraint},
    {"Expected cond to be True, but got False", TextErrorKind::kRefuted},
    {"Runtime assertion failed for expression", TextErrorKind::kRefuted},
    {"Invalid ranges [", TextErrorKind::kRefuted},
    {"Invalid value range for ", TextErrorKind::kRefuted},
    {"value to constrain_", TextErrorKind::kRefuted},
    {"Assertion failed on symbolic shapes", TextErrorKind::kRefuted},
    {"Dynamic control flow is not supported", TextErrorKind::kTensor},
    {"Data-dependent branching", TextErrorKind::kTensor},
    {"data-dependent branching", TextErrorKind::kTensor},
    {"Data dependent control flow", TextErrorKind::kTensor},
    {"generic_jump TensorVariable", TextErrorKind::kTensor},
    {"Data-dependent assertion failed", TextErrorKind::kRefuted},
    {"is missing a fake kernel implementation", TextErrorKind::kOperator},
    {"has a fake kernel implementation, but it has incorrect behavior",
     TextErrorKind::kOperator},
    {"There was no fake impl registered for", TextErrorKind::kOperator},
    {"There was no meta impl registered for", TextErrorKind::kOperator},
    {"There was no abstract impl", TextErrorKind::kOperator},
    {"UnsupportedOperatorException", TextErrorKind::kOperator},
    {"UnsupportedFakeTensorException", TextErrorKind::kOperator},
    {"DynamicOutputShapeException", TextErrorKind::kOperator},
    {"DataDependentOutputException", TextErrorKind::kOperator},
    {"PendingUnbackedSymbolNotFound", TextErrorKind::kOperator},
    {"Pending unbacked symbols", TextErrorKind::kOperator},
    {"data dependent operator:", TextErrorKind::kOperator},
    {"dynamic shape operator:", TextErrorKind::kOperator},
    {"Data dependent operator", TextErrorKind::kOperator},
    {"Dynamic shape operator", TextErrorKind::kOperator},
    {"Unsupported Tensor.item() call", TextErrorKind::kOperator},
    {"with data-dependent output shape", TextErrorKind::kOperator},
    {"Dynamic slicing with Tensor arguments", TextErrorKind::kOperator},
    {"Attempted to wrap unbacked SymInt", TextErrorKind::kOperator},
    {"with tensors that have unbacked", TextErrorKind::kOperator},
    {"Cannot call numel() on tensor with symbolic sizes",
     TextErrorKind::kOperator},
    {"Cannot call sizes() on tensor with symbolic sizes",
     TextErrorKind::kOperator},
    {"cond must be a bool, but got", TextErrorKind::kOperator},
    {"Cannot convert symbols to int", TextErrorKind::kOperator},
    {"cannot determine truth value of Relational", TextErrorKind::kOperator},
    {"CantSplit", TextErrorKind::kOperator},
    {"LoweringException", TextErrorKind::kOperator},
    {"InductorError", TextErrorKind::kOperator},
    {"InternalTorchDynamoError", TextErrorKind::kOperator},
    {"BackendCompilerFailed", TextErrorKind::kOperator},
    {"expected to contain only concrete integers", TextErrorKind::kOperator},
    {"attempted to run this operator with Meta tensors",
     TextErrorKind::kOperator},
    {"Cannot cast FakeTensor(", TextErrorKind::kOperator},
    {"Trying to extract a concrete int out of a symbolic int",
     TextErrorKind::kOperator},
    // Older texts go on with the expression, but may be cut before it.
    {"Tried to use data-dependent value in the subsequent computation",
     TextErrorKind::kQuestion},
};

struct Heading {
  string_view text;
  Section section;
};
constexpr Heading kHeadings[] = {
    {"Potential framework code culprit", Section::kCulprit},
    {"User Stack (most recent call last)", Section::kUser},
    {"User stack:", Section::kUser},
    {"from user code:", Section::kUser},
    {"at the following user stacktrace", Section::kUser},
    {"This occurred at the following stacktrace", Section::kUser},
    {"The following call raised this error", Section::kUser},
    {"And the following framework stacktrace", Section::kCulprit},
    {"Suggested fixes:", Section::kFixes},
};

}  // namespace

std::optional<QuestionWording> question_in(string_view line) {
  for (const Sentence& s : kQuestions) {
    const size_t found = line.find(s.text);
    if (found == line.npos) continue;
    return QuestionWording{s.kind, found + s.text.size(), s.text.back() == '`',
                           false};
  }
  const size_t found = line.find(kQuoted);
  if (found == line.npos) return std::nullopt;
  return QuestionWording{TextErrorKind::kQuestion, found + kQuoted.size(),
                         false, true};
}

bool is_broken_question(string_view line, string_view next) {
  for (const Sentence& s : kQuestions) {
    const size_t begin = line.rfind(s.text.substr(0, s.text.find(' ')));
    if (begin == line.npos) continue;
    const string_view there = line.substr(begin);
    if (there.size() < s.text.size() && s.text.starts_with(there) &&
        s.text[there.size()] == ' ' &&
        next.starts_with(s.text.substr(there.size() + 1))) {
      return true;
    }
  }
  return false;
}

std::optional<TextErrorKind> kind_of_phrase(string_view line) {
  for (const Sentence& s : kPhrases) {
    if (has(line, s.text)) return s.kind;
  }
  return std::nullopt;
}

std::optional<Section> section_after(string_view line) {
  for (const Heading& h : kHeadings) {
    if (has(line, h.text)) return h.section;
  }
  return std::nullopt;
}

}  // namespace proviso::inline v0_2::internal
