// What takes texts of PyTorch apart, each part alone: pieces of lines, frames,
// wordings, prefixes of logs, what a ShapeEnv's log says, quoted functions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "guards/errors/env_text.h"
#include "guards/errors/log_lines.h"
#include "guards/errors/source_code.h"
#include "guards/errors/text_parts.h"
#include "guards/errors/wordings.h"

namespace proviso {
namespace {
using namespace internal;

using ::testing::ElementsAre;

std::string text_of(std::optional<std::string_view> found) {
  return found ? std::string(*found) : "none";
}

// --- pieces of a line

TEST(TextParts, AreFoundOrNot) {
  EXPECT_EQ(text_of(after("u0 = VR[0, 9]", " = ")), "VR[0, 9]");
  EXPECT_EQ(text_of(after("u0", " = ")), "none");
  EXPECT_EQ(text_of(between("evaluate(u0 > 2) -> x", "(", ")")), "u0 > 2");
  EXPECT_EQ(text_of(between("evaluate(u0 > 2", "(", ")")), "u0 > 2");
  EXPECT_THAT(split(" a, b ,c", ","), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split("a b", ","), ElementsAre("a b"));
  EXPECT_EQ(trim("\t u0 \t"), "u0");
  EXPECT_EQ(closing("a[0](b)) + c"), 7u);
  EXPECT_EQ(closing("a[0]"), npos);
  EXPECT_EQ(number_of("345x"), 345);
  EXPECT_EQ(number_of("12345678901"), 123456789);
  EXPECT_EQ(number_of("x"), 0);
}

TEST(TextParts, AnExpressionEndsWithItsSentence) {
  struct Row {
    const char *text, *expression;
  };
  for (const Row& row : {
           Row{"Eq(u0, 1)\". And so", "Eq(u0, 1)"},
           {" u0 > 2 (unhinted: u0 > 2)", "u0 > 2"},
           {"(u0 + 1)*2 < s0. Then", "(u0 + 1)*2 < s0"},
           {"`u0 >= 0` holds", "u0 >= 0"},
           {"u0 > 2.5, which", "u0 > 2.5"},
           {"f(a, b) == 3) and", "f(a, b) == 3"},
           {"u0 + u1...", "u0 + u1"},
       }) {
    EXPECT_EQ(expression_in(row.text), row.expression) << row.text;
  }
}

TEST(TextParts, NamesAndPlaces) {
  for (const char* name : {"s0", "u17", "zf3", "zuf0", "i2", "f4"})
    EXPECT_TRUE(is_symbol_name(name)) << name;
  for (const char* name : {"s", "x0", "u0x", "zz1", "u1234567890", ""})
    EXPECT_FALSE(is_symbol_name(name)) << name;
  for (const char* place : {"n", "y.shape[0]", "boxes[\"a\"].size(0)", "len(x)",
                            "x[-1]", "f(a, b['c'])", "a.b.c"})
    EXPECT_TRUE(is_place(place)) << place;
  for (const char* other :
       {"", "a + b", "x[", "x[01]", "lambda", "a.if", "x['a", "0", "a b"})
    EXPECT_FALSE(is_place(other)) << other;
}

// --- frames

std::string shown(const std::optional<TextFrame>& f) {
  if (!f) return "none";
  return f->file + "|" + std::to_string(f->line) + "|" + f->function;
}

TEST(Frames, OfEachPrinter) {
  struct Row {
    const char *text, *frame;
  };
  for (const Row& row : {
           Row{"File \"a/model.py\", line 3, in forward",
               "a/model.py|3|forward"},
           {"File model.py, lineno 31, in f", "model.py|31|f"},
           {"File ~/model.py:12, in g(self, x)", "~/model.py|12|g"},
           {"Cell In[3], line 10, in h(a)", "Cell In[3]|10|h"},
           {"model.py:7: in forward", "model.py|7|forward"},
           {"File \"model.py\", line x, in f", "none"},
           {"see model.py:7: in forward", "none"},
       }) {
    EXPECT_EQ(shown(frame_in(row.text)), row.frame) << row.text;
  }
  EXPECT_EQ(shown(place_in("dir/model.py:11 in forward")),
            "dir/model.py|11|forward");
  EXPECT_EQ(shown(place_in("model.py:11")), "model.py|11|");
  EXPECT_EQ(shown(place_in("forward")), "none");
}

TEST(Frames, OfTorchAndOfTheProgram) {
  for (const char* file : {"/x/site-packages/torch/_refs/__init__.py",
                           "_subclasses/fake_tensor.py", "torch/utils/x.py",
                           "/src/pytorch/torch/anything.py"})
    EXPECT_TRUE(is_of_torch(file)) << file;
  for (const char* file : {"model.py", "utils/x.py", "/home/me/export/run.py",
                           "my_torch/model.py"})
    EXPECT_FALSE(is_of_torch(file)) << file;
  const std::vector<TextFrame> stack = {
      {"model.py", 1, "f", ""},
      {"<eval_with_key>.7", 2, "g", ""},
      {"/x/site-packages/torch/_ops.py", 3, "h", ""}};
  ASSERT_NE(last_of_program(stack), nullptr);
  EXPECT_EQ(last_of_program(stack)->line, 1);
  EXPECT_EQ(last_of_program({stack[1], stack[2]}), nullptr);
  EXPECT_TRUE(is_same_file("a/b/model.py", "b/model.py"));
  EXPECT_FALSE(is_same_file("a/b/model.py", ""));
  EXPECT_FALSE(is_same_file("a/model.py", "b/model.py"));
}

TEST(Frames, LinesOfCode) {
  EXPECT_EQ(text_of(code_at_arrow("--> 12     y = x.item()")), "y = x.item()");
  EXPECT_EQ(text_of(code_at_arrow("-> y = x")), "none");
  EXPECT_EQ(text_of(assigned_in("n = m.sum().item()")), "n");
  EXPECT_EQ(text_of(assigned_in("n == m")), "none");
  EXPECT_EQ(text_of(assigned_in("a.b = m")), "none");
  EXPECT_TRUE(is_underline("    ^^^^~~~~"));
  EXPECT_FALSE(is_underline("  ^^ here"));
}

// --- wordings

TEST(Wordings, OfQuestions) {
  const std::string line =
      "Error: Could not guard on data-dependent expression u0 > 2 (un";
  const auto found = question_in(line);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->kind, TextErrorKind::kQuestion);
  EXPECT_EQ(line.substr(found->at, 7), " u0 > 2");
  EXPECT_FALSE(found->is_quoted);
  const auto value = question_in(
      "Could not extract specialized integer from data-dependent expression "
      "u0");
  ASSERT_TRUE(value);
  EXPECT_EQ(value->kind, TextErrorKind::kValue);
  const auto quoted = question_in("it says Could not guard on u0");
  ASSERT_TRUE(quoted);
  EXPECT_TRUE(quoted->is_quoted);
  EXPECT_FALSE(question_in("Could not do anything"));
}

TEST(Wordings, ASentenceMayBreakBetweenAnyWords) {
  const std::string sentence = "Could not guard on data-dependent expression";
  size_t breaks = 0;
  for (size_t at = sentence.find(' '); at != npos;
       at = sentence.find(' ', at + 1)) {
    ++breaks;
    const std::string line = "E: " + sentence.substr(0, at);
    const std::string next = sentence.substr(at + 1);
    EXPECT_TRUE(is_broken_question(line, next + " u0")) << line;
    EXPECT_FALSE(is_broken_question(line, "else")) << line;
  }
  EXPECT_EQ(breaks, 5u);
  EXPECT_FALSE(is_broken_question(sentence, "u0 > 2"));
  EXPECT_FALSE(is_broken_question("Could not gu", "rd on data-dependent"));
  EXPECT_FALSE(
      is_broken_question("Could not gu", "rd on data-dependent expression"));
}

TEST(Wordings, OfPhrasesAndSections) {
  EXPECT_EQ(kind_of_phrase("PendingUnbackedSymbolNotFound: x"),
            TextErrorKind::kOperator);
  EXPECT_EQ(kind_of_phrase("E   Constraints violated (W)!"),
            TextErrorKind::kConstraint);
  EXPECT_EQ(kind_of_phrase("Runtime assertion failed for expression u0 > 1"),
            TextErrorKind::kRefuted);
  EXPECT_EQ(kind_of_phrase("all is well"), std::nullopt);
  EXPECT_EQ(section_after("from user code:"), Section::kUser);
  EXPECT_EQ(section_after("Suggested fixes:"), Section::kFixes);
  EXPECT_EQ(section_after("x = 3"), std::nullopt);
}

// --- prefixes

TEST(LogLines, AreFreeOfPrefixesInAnyOrder) {
  struct Prefix {
    const char *text, *stream;
  };
  const std::vector<Prefix> streams = {
      {"[rank3]: ", "rank3"},
      {"(EngineCore pid=7) ", "EngineCore pid=7"},
      {"rank2: ", "rank2"},
      {"vllm-1  | ", "vllm-1"}};
  const std::vector<std::string> others = {
      "V1213 16:58:36.371000 1650887 torch/fx/x.py:57] ",
      "[0/0_1] ",
      "2025-01-02T03:04:05.6Z ",
      "[2023-12-09 15:28:05,619] ",
      "ERROR 12-15 12:35:11 [core.py:866] ",
      "E   ",
      "> "};
  const std::vector<std::string> texts = {"u0 > 2", "create_env",
                                          "n = x.item()", "[0, 9] is a range"};
  std::mt19937 random(5);
  for (int round = 0; round < 500; ++round) {
    std::string all;
    struct Line {
      std::string text, stream;
    };
    std::vector<Line> expected;
    for (int n = 0; n < 5; ++n) {
      std::string line;
      Line wanted{texts[random() % texts.size()], ""};
      for (int k = 0; k < static_cast<int>(random() % 3); ++k)
        line += others[random() % others.size()];
      if (random() % 2 == 0) {
        const Prefix& stream = streams[random() % streams.size()];
        line = stream.text + line;
        wanted.stream = stream.stream;
      }
      all += line + wanted.text + "\n";
      expected.push_back(wanted);
    }
    const LogLines log(all);
    ASSERT_GE(log.lines().size(), expected.size()) << all;
    for (size_t i = 0; i < expected.size(); ++i) {
      const LogLine& line = log.lines()[i];
      EXPECT_EQ(line.text, expected[i].text) << all;
      EXPECT_EQ(log.streams()[line.stream], expected[i].stream) << all;
      EXPECT_EQ(line.number, i + 1) << all;
    }
  }
}

TEST(LogLines, AreAsPrinted) {
  const LogLines log(
      "\x1b[31mu0 &gt; 2\x1b[0m\r\n\xe2\x80\x9cmodel\xe2\x80\x9d\n    x = 3\n");
  EXPECT_EQ(log.lines()[0].text, "u0 > 2");
  EXPECT_EQ(log.lines()[1].text, "\"model\"");
  EXPECT_EQ(log.lines()[2].text, "    x = 3");
  EXPECT_FALSE(log.was_cut());
  EXPECT_FALSE(log.lines()[0].is_record);
  const LogLines record("I0926 17:32:44.844 12 torch/x.py:37] create_env\n");
  EXPECT_TRUE(record.lines()[0].is_record);
}

// --- what a ShapeEnv knew

TEST(EnvReader, ReadsEvents) {
  TextEnv env;
  EnvReader reader(env);
  EXPECT_TRUE(reader.event(
      "create_symbol s0 = 6 for L['x'].size()[0] [2, int_oo] (m.py:3 in f)"));
  EXPECT_TRUE(
      reader.event("create_unbacked_symint u0 [-int_oo, 9] (m.py:5 in g)"));
  EXPECT_TRUE(
      reader.event("runtime_assert u0 > 1 [guard added] (m.py:6 in h), more"));
  EXPECT_TRUE(reader.event("_update_var_to_range u0 = VR[0, 7] (update)"));
  EXPECT_FALSE(reader.event("produce_guards"));
  const TextSymbol& s0 = env.symbols["s0"];
  EXPECT_EQ(s0.source, "L['x'].size()[0]");
  EXPECT_EQ(s0.lower, Int(2));
  EXPECT_EQ(s0.upper, std::nullopt);
  EXPECT_EQ(s0.example, Int(6));
  const TextSymbol& u0 = env.symbols["u0"];
  EXPECT_EQ(u0.lower, std::nullopt);
  EXPECT_EQ(u0.upper, Int(9));
  EXPECT_EQ(u0.made_at.line, 5);
  ASSERT_EQ(env.facts.size(), 3u);
  EXPECT_EQ(env.facts[0].text, "u0 > 1");
  EXPECT_EQ(env.facts[0].where.line, 6);
  EXPECT_EQ(env.facts[1].text, "u0 >= 0");
  EXPECT_EQ(env.facts[2].text, "u0 <= 7");
}

TEST(EnvReader, AFactIsKeptOnce) {
  TextEnv env;
  EnvReader reader(env);
  for (int i = 0; i < 3; ++i)
    reader.event("eval u0 > 1 [guard added] (m.py:6 in h)");
  EXPECT_EQ(env.facts.size(), 1u);
  EXPECT_EQ(reader.symbol("x"), nullptr);
}

// --- quoted functions

TEST(SourceReader, CollectsBodies) {
  std::vector<TextFunction> functions;
  SourceReader reader(functions, 4);
  uint32_t number = 0;
  for (const char* line :
       {"text before", "    def forward(self, x,",
        "                y):", "        n = x.sum().item()", "",
        "        if n > 2:", "            return x", "done"})
    reader.line(line, ++number);
  ASSERT_EQ(functions.size(), 1u);
  EXPECT_EQ(functions[0].name, "forward");
  EXPECT_EQ(functions[0].line, 2u);
  EXPECT_EQ(functions[0].stream, 4u);
  std::vector<std::string> codes;
  for (const SourceLine& l : functions[0].lines) codes.push_back(l.code);
  EXPECT_THAT(codes,
              ElementsAre("n = x.sum().item()", "if n > 2:", "return x"));
  EXPECT_LT(functions[0].lines[1].indent, functions[0].lines[2].indent);
}

}  // namespace
}  // namespace proviso
