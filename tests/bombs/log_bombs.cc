// Whole logs: many questions under much that was said before them.
#include "tests/bombs/bombs.h"
#include "tests/bombs/texts.h"

namespace proviso::testing {

using std::to_string;

namespace {

using Line = std::function<std::string(int)>;

std::string lines(int n, const Line& line) {
  return joined(n, "", [&](int i) { return line(i) + "\n"; });
}

std::string asks(const std::string& condition) {
  return "Could not guard on data-dependent expression " + condition;
}

std::string questions(int n, const Line& condition) {
  return lines(n, [&](int i) { return asks(condition(i)); });
}

std::string below(int i) { return sym('u', i) + "<" + sym('u', i + 1); }

std::string learnt(const std::string& fact) {
  return "eval " + fact + " [guard added]";
}

Family log(const char* name, std::function<std::string(int n)> text) {
  return {name, [text = std::move(text)](int n) {
            Problem p;
            p.log = text(n);
            return p;
          }};
}

const std::vector<Family> kLogs = {
    log("checks of a function before its lines that ask",
        [](int n) {
          return "def f(a, b):\n" + lines(n, [](int) { return " assert q0"; }) +
                 lines(n, [](int) { return " if a<b:"; }) +
                 questions(n / 2, below);
        }),
    log("checks of a function among its lines that ask",
        [](int n) {
          return "def f(a, b):\n" +
                 lines(n,
                       [](int i) {
                         return " assert q" + to_string(i) + "\n if a<b+" +
                                to_string(i) + ":";
                       }) +
                 questions(n / 2, below);
        }),
    log("checks of sizes that are assigned",
        [](int n) {
          return "def f(a, b):\n" +
                 lines(n,
                       [](int i) { return " c" + to_string(i) + "=len(a)"; }) +
                 lines(n / 2,
                       [](int i) {
                         return " assert c" + to_string(i) + ">1\n if a<b:";
                       }) +
                 questions(n / 3, below);
        }),
    log("lines that ask of four words",
        [](int n) {
          return "def f(a, b, c, d):\n" +
                 lines(n,
                       [](int i) {
                         return " if a+b<c+" + to_string(i) + "*d:";
                       }) +
                 questions(n / 3, [](int i) {
                   return "u0+u1<u2+" + to_string(i + 7) + "*u3";
                 });
        }),
    log("functions within functions",
        [](int n) {
          return joined(16, "",
                        [](int i) {
                          return std::string(static_cast<size_t>(i), ' ') +
                                 "def f(a, b):\n";
                        }) +
                 lines(n / 2,
                       [](int i) {
                         return "                 assert a<" + to_string(i) +
                                "\n                 if a<b:";
                       }) +
                 questions(n / 6, below);
        }),
    log("many functions",
        [](int n) {
          return lines(
                     n / 4 * 3,
                     [](int) { return "def f(a, b):\n assert a\n if a<b:"; }) +
                 questions(n / 2, below);
        }),
    log("a check of many words",
        [](int n) {
          return "def f(a, b):\n" +
                 lines(n / 16 + 1,
                       [](int i) {
                         return " assert 0 < " + joined(90, "+", [i](int k) {
                                  return "a" + to_string(k + 90 * i);
                                });
                       }) +
                 " if a<b:\n" + questions(n / 6, below);
        }),
    log("blank lines",
        [](int n) {
          return std::string(static_cast<size_t>(20 * n), '\n') +
                 questions(n / 3, [](int i) {
                   return "(" + sym('u', i) + "*" + sym('u', i + 1) + "//7+" +
                          sym('u', i + 2) + ")**5%(" + sym('u', i + 3) +
                          "*13+1)>" + sym('u', i + 4);
                 });
        }),
    log("questions of powers",
        [](int n) {
          return questions(n / 2, [](int i) {
            return "3**" + to_string(40000 + i) + ">" + sym('s', i);
          });
        }),
    log("questions of big integers",
        [](int n) {
          return questions(n, [](int i) {
            return "2**65535*(2**65535)>u0*2**" + to_string(65000 + i);
          });
        }),
    log("values of big integers",
        [](int n) {
          return lines(n / 2, [](int i) {
            return "Could not extract specialized integer from data-dependent "
                   "expression 2**65535*u0*2**" +
                   to_string(65000 + i);
          });
        }),
    log("questions that are quoted",
        [](int n) {
          return lines(n, [](int i) {
            return "Could not guard on 2**65535*(2**65535)>2**" +
                   to_string(65000 + i);
          });
        }),
    log("facts of big integers",
        [](int n) {
          return lines(
                     n,
                     [](int i) {
                       return learnt("u0<2**65535*2**" + to_string(65000 + i));
                     }) +
                 asks("u0<u1") + "\n";
        }),
    log("questions of remainders",
        [](int n) {
          return questions(n / 3 * 2, [](int i) {
            return "Eq((" + sym('s', i) + "*" + sym('u', i) + ")%(" +
                   sym('u', i) + "+" + to_string(i) + "),7)";
          });
        }),
    log("one question of many ranks",
        [](int n) {
          return lines(n / 3 * 2, [](int i) {
            return "[rank" + to_string(i) +
                   "]: " + asks("Eq((s0*u0)%(u0+7),7)");
          });
        }),
    log("questions of many ranks",
        [](int n) {
          return lines(n / 3 * 2, [](int i) {
            return "[rank" + to_string(i) +
                   "]: " + asks("Eq((s0*u0)%(u0+" + to_string(i) + "),7)");
          });
        }),
    log("one question of many environments",
        [](int n) {
          return lines(n / 3 * 2, [](int) {
            return "create_env\n" + asks("Eq((s0*u0)%(u0+7),7)");
          });
        }),
    log("one question under other facts",
        [](int n) {
          return lines(n / 3 * 2, [](int i) {
            return learnt("u0>" + to_string(i)) + "\n" + asks("u0<u1");
          });
        }),
    log("many environments",
        [](int n) { return lines(4 * n, [](int) { return "create_env"; }); }),
    log("facts of one symbol under many questions",
        [](int n) {
          return lines(n, [](int i) { return learnt("u0>" + to_string(i)); }) +
                 questions(n / 2, [](int i) { return "u0<" + sym('u', i); });
        }),
    log("a chain of facts under many questions",
        [](int n) {
          return lines(n / 4 * 3, [](int i) { return learnt(below(i)); }) +
                 questions(n / 2,
                           [](int i) { return "u0<" + sym('u', i + 1); });
        }),
    log("facts of remainders under many questions",
        [](int n) {
          return lines(n / 3 * 2,
                       [](int i) {
                         return learnt("Eq(u0%" + to_string(i + 2) + "," +
                                       sym('u', i + 1) + ")");
                       }) +
                 questions(n / 2,
                           [](int i) { return "u0<" + sym('u', i + 1); });
        }),
    log("ranges of many symbols under many questions",
        [](int n) {
          return lines(n / 4 * 3,
                       [](int i) {
                         return "create_unbacked_symint " + sym('u', i) +
                                " [0,9]";
                       }) +
                 learnt(
                     joined(n / 4 * 3, "+", [](int i) { return sym('u', i); }) +
                     ">0") +
                 "\n" + questions(n / 3, [](int i) { return below(i); });
        }),
    log("sizes listed under a long question",
        [](int n) {
          return asks(joined(5 * n, "+", [](int i) { return sym('u', i); }) +
                      ">3") +
                 " (unhinted: u0>1). (Size-like symbols: " +
                 joined(4 * n, ", ", [](int i) { return sym('u', i); }) + ")\n";
        }),
    log("many sizes of one question",
        [](int n) {
          return asks(joined(4 * n, "+", [](int i) { return sym('u', i); }) +
                      ">3. (Size-like symbols: " +
                      joined(4 * n, ", ", [](int i) { return sym('u', i); })) +
                 ")\n";
        }),
    log("names of one symbol under many questions",
        [](int n) {
          return lines(n / 4 * 3,
                       [](int i) {
                         return "names u0 = n" + to_string(i) +
                                " at m.py:3 in f";
                       }) +
                 questions(n / 2, [](int i) { return "u0<" + sym('u', i); });
        }),
    log("a long name in a long question",
        [](int n) {
          return asks(
                     "Eq(" +
                     joined(3 * n, "*",
                            [](int i) { return "(u0+" + to_string(i) + ")"; }) +
                     ", 0)") +
                 "\nderived by replacing `u0` with " + digits('n', 15 * n) +
                 " in it\n";
        }),
    log("long names under many questions",
        [](int n) {
          return questions(n / 2, [](int i) { return "u0<" + sym('u', i); }) +
                 "derived by replacing `u0` with " + digits('n', 10 * n) +
                 " in it\n" + "names u0 = " + digits('m', 8 * n) +
                 " at m.py:3 in f\n";
        }),
    log("words for many symbols in one line",
        [](int n) {
          return asks("u0<u1") + "\nderived by replacing " +
                 joined(3 * n, " ",
                        [](int i) { return "`" + sym('u', i) + "` with x"; }) +
                 "\n";
        }),
    log("a long line of code for many sizes",
        [](int n) {
          return "# File: m.py:1 in f, code: " + digits('x', 25 * n) +
                 " = y\n a: \"f32[" +
                 joined(4 * n, ", ", [](int i) { return sym('u', i); }) +
                 "]\" = t\n" + asks("u0<u1") + "\n";
        }),
    log("a long line of code for many operations",
        [](int n) {
          return "# File: m.py:1 in f, code: " + digits('x', 25 * n) +
                 " = y\n" +
                 lines(n,
                       [](int i) {
                         return "a: \"Sym(" + sym('u', i) + ")\" = t";
                       }) +
                 asks("u0<u1") + "\n";
        }),
    log("operations of one line of code",
        [](int n) {
          return lines(n / 4 * 3,
                       [](int i) {
                         return "# File: m.py:1 in f, code: x" + to_string(i) +
                                " = y\na: \"Sym(u0)\" = t";
                       }) +
                 asks("u0<u1") + "\n";
        }),
    log("checks in a graph",
        [](int n) {
          return lines(
                     n / 2,
                     [](int i) {
                       return "# File: m.py:1 in f, code: torch._check(u0 > " +
                              to_string(i) + ")\na: \"Sym(u0 > " +
                              to_string(i) + ")\" = t";
                     }) +
                 asks("u0<u1") + "\n";
        }),
    log("places where one symbol was made",
        [](int n) {
          return "Data dependent variable 'u0' allocated at:\n" +
                 lines(n / 2,
                       [](int i) {
                         return "x.py:3: in f\na" + to_string(i) + "=b.item()";
                       }) +
                 lines(n / 2,
                       [](int) {
                         return "Data dependent variable 'u0' allocated at:";
                       }) +
                 questions(n / 8, [](int i) { return "u0<" + sym('u', i); });
        }),
    log("frames of every question",
        [](int n) {
          return lines(n / 4, [](int i) {
            return joined(
                       10, "",
                       [](int) { return std::string("x.py:3: in f\na\n"); }) +
                   asks(below(i));
          });
        }),
    log("frames of PyTorch",
        [](int n) {
          return lines(n / 8, [](int i) {
            return joined(10, "",
                          [](int k) {
                            return "torch/_ops/" + to_string(k) +
                                   ".py:3: in f\na\n";
                          }) +
                   asks(below(i));
          });
        }),
    log("a deep stack",
        [](int n) {
          return lines(3 * n, [](int) { return "x.py:3: in f\na"; }) +
                 asks("u0<u1") + "\n";
        }),
    log("guards that were violated",
        [](int n) {
          return "Constraints violated (W)!\n" + lines(n / 2, [](int i) {
                   return "- Not all values of W = L['x'].size()[" +
                          to_string(i) + "] satisfy the generated guard W>" +
                          to_string(i);
                 });
        }),
    log("many guards in every violation",
        [](int n) {
          return lines(n / 16 + 1, [n](int i) {
            return "CantSplit\nConstraints violated (W)!\n- Not all values of "
                   "W in the specified "
                   "range 2 <= W <= 99 satisfy the generated guard " +
                   joined(48, " and ", [&](int k) {
                     return "a" + to_string(k) + ">b" +
                            to_string((k * 7 + i) % 48);
                   });
          });
        }),
    log("equal guards in one violation",
        [](int n) {
          return "Constraints violated (W)!\n- Not all values of W in the "
                 "specified range 2 <= W <= 99 satisfy the generated guard " +
                 joined(5 * n, " and ",
                        [&](int k) { return "W>" + to_string(k % 100); });
        }),
    log("guards of remainders",
        [](int n) {
          return "Constraints violated (W)!\n- Not all values of W in the "
                 "specified range 2 <= W <= 99 satisfy the generated guard " +
                 joined(2 * n, " and ", [&](int k) {
                   return "(W*W+a)%" + to_string(k + 3) +
                          "==" + to_string(k % 3);
                 });
        }),
    log("suggested specifications",
        [](int n) {
          return "Constraints violated (W)!\nSuggested fixes:\n" +
                 lines(n, [](int i) {
                   return "_d = Dim('_d', min=" + to_string(i) +
                          ", max=99)\nd" + to_string(i) + " = " +
                          to_string(i + 1) + "*_d";
                 });
        }),
    log("roots of long suggestions",
        [](int n) {
          return "Constraints violated (W)!\nSuggested fixes:\n"
                 "_d = Dim('_d', min=" +
                 digits('1', 15 * n) + ")\n" + lines(n / 48, [n](int) {
                   return "W = 2*_d + " + joined(3 * n / 2, "+", [](int) {
                            return std::string("_d");
                          });
                 });
        }),
    log("faults of many kinds",
        [](int n) {
          return lines(3 * n, [](int i) {
            return std::string(i % 2 == 0 ? "CantSplit" : "Invalid ranges [");
          });
        }),
    log("refuted assertions",
        [](int n) {
          return lines(n / 2, [](int i) {
            return "CantSplit\nRuntime assertion failed for expression "
                   "Eq((s0*u0)%(u0+" +
                   to_string(i) + "),7) on node";
          });
        }),
    log("messages that go on",
        [](int n) { return lines(n, [](int) { return asks("("); }); }),
    log("long ends of ranges",
        [](int n) {
          return lines(4,
                       [n](int i) {
                         return "create_unbacked_symint " + sym('u', i) +
                                " [0, " + digits('9', 10 * n) + "]";
                       }) +
                 asks("u0+u1+u2<u3") + "\n";
        }),
    log("short lines of a listing",
        [](int n) {
          return "x.py:3: in f\n" +
                 lines(6 * n, [](int i) { return to_string(i % 7) + " x"; }) +
                 asks("u0<u1") + "\n";
        }),
    log("prefixes of a line",
        [](int n) {
          return joined(8 * n, "", [](int) { return std::string("[0]:"); }) +
                 "\n" +
                 joined(6 * n, "", [](int) { return std::string("> "); }) +
                 asks("u0<u1") + "\n";
        }),
    log("one long fact that many questions follow from",
        [](int n) {
          return learnt(
                     "u0+" +
                     joined(6 * n, "+", [](int) { return std::string("u1"); }) +
                     ">9") +
                 "\n" + questions(n / 2, [n](int i) {
                   return "u0+" + to_string(6 * n) + "*u1>" + to_string(i - 90);
                 });
        }),
};

}  // namespace

const std::vector<Family>& log_bombs() { return kLogs; }

}  // namespace proviso::testing
