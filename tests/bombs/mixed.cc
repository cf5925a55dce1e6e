#include <algorithm>

#include "tests/bombs/bombs.h"
#include "tests/bombs/texts.h"

namespace proviso::testing {

using std::to_string;

namespace {

// clang-format off
const std::vector<Family> kFamilies = {
    {"floors of decimals",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return "math.floor((" + x + ")*0." + to_string(i + 1) + " + " + sym('s', i % 3) + "/7)";
                      }) + " > 3"};
     }},
    {"floors and ceilings of fractions",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return (i % 2 ? "math.ceil((" : "math.floor((") + x + " + " + sym('u', i % 3) + ")/(" + sym('s', i % 4) + " + 1))";
                      }) + " < 9"};
     }},
    {"falling large moduli",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return "Mod(" + x + "*" + sym('u', i % 2) + ", 10**" + to_string(400 - i) + ")";
                      }) + " < 9"};
     }},
    {"doubled extrema",
     [](int n) {
       return Problem{{},
                      nested(std::min(n, 8), "s0", [](auto x, int i) {
                        return "Min(Max(" + x + ", " + sym('u', i) + " + 1), Max(" + x + " - 2, " + sym('s', i) + "))";
                      }) + " < 9"};
     }},
    {"doubled quotients",
     [](int n) {
       return Problem{{},
                      nested(std::min(n, 9), "s0", [](auto x, int i) {
                        return "((" + x + " + " + sym('u', i) + ")//(" + x + " + 3))";
                      }) + " < 9"};
     }},
    {"a ladder of connectives",
     [](int n) {
       return Problem{{},
                      nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "((" + sym('u', i % 6) + " + " + sym('s', i % 5) + " > " + to_string(i) + ") | ((" + sym('u', i % 4) + "*3 < " + to_string(i) + ") & " + x + "))";
                      }) + ""};
     }},
    {"negations of connectives",
     [](int n) {
       return Problem{{},
                      nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "~((~" + x + ") & (" + sym('u', i % 5) + " <= " + sym('s', i % 3) + " + " + to_string(i) + "))";
                      }) + ""};
     }},
    {"exponents that are remainders",
     [](int n) {
       return Problem{{},
                      nested(std::min(n, 180), "s0", [](auto x, int i) {
                        return "(2**Mod(" + x + ", " + to_string(i % 9 + 3) + "))";
                      }) + " < 9"};
     }},
    {"products of remainders",
     [](int n) {
       return Problem{{},
                      joined(8 * n, "*", [](int i) {
                        return "Mod(" + sym('s', i % 9) + ", " + to_string(i + 2) + ")";
                      }) + " > 3"};
     }},
    {"quotients and their remainders",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return "(" + to_string(i + 2) + "*((" + x + ")//" + to_string(i + 3) + ") + Mod(" + sym('s', i % 4) + ", " + to_string(i + 3) + "))";
                      }) + " < 9"};
     }},
    {"equalities of large powers of ten",
     [](int n) {
       return Problem{list(std::min(n, 40), [n](int i) {
                        return "Eq(10**" + to_string(4 * n + i) + "*" + sym('u', i) + " + 10**" + to_string(4 * n - i) + "*" + sym('s', i) + ", 10**" + to_string(5 * n) + ")";
                      }),
                      "u0 > s1"};
     }},
    {"decimal inequalities",
     [](int n) {
       return Problem{list(3 * n, [](int i) {
                        return sym('s', i) + "*0.1 + " + sym('s', i + 1) + "/7 <= " + to_string(i) + ".7";
                      }),
                      "s0/3 > 0.25"};
     }},
    {"excluded remainders",
     [](int n) {
       return Problem{list(6 * n, [](int i) {
                        return "Ne(Mod(u0, " + to_string(i + 2) + "), " + to_string(i % (i + 2)) + ")";
                      }),
                      "u0 >= 3"};
     }},
    {"sorted sizes",
     [](int n) {
       return Problem{list(8 * n, [](int i) {
                        return sym('s', i) + " <= " + sym('s', i + 1);
                      }),
                      joined(2 * n, " + ", [](int i) { return sym('s', i); }) + " >= s0"};
     }},
    {"one size under many names",
     [](int n) {
       return Problem{list(8 * n, [n](int i) {
                        return "Eq(" + sym('s', i) + ", " + sym('s', i / 2 + 8 * n) + ")";
                      }),
                      "Eq(s0, s1)"};
     }},
    {"divisible products",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(Mod(" + sym('s', i) + "*" + sym('s', i + 1) + ", " + sym('s', i + 2) + "), 0)";
                      }),
                      "Eq(Mod(s0*s1*s2, s2), 0)"};
     }},
    {"ceilings of extrema",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return "CeilDiv(Min(" + x + ", " + sym('u', i % 5) + "), Max(" + sym('s', i % 3) + ", " + to_string(i + 1) + "))";
                      }) + " < 9"};
     }},
    {"polynomials in one symbol",
     [](int n) {
       return Problem{list(std::min(n, 60), [](int i) {
                        return "u0**" + to_string(i % 9 + 2) + "*" + to_string(i + 3) + " - u0**" + to_string(i % 7 + 1) + "*" + to_string(i * i + 1) + " + u0 > " + to_string(i);
                      }),
                      "u0**3 > u0 + 5"};
     }},
    {"a cycle of differences",
     [](int n) {
       return Problem{list(8 * n, [n](int i) {
                        return sym('u', i) + " <= " + sym('u', (i + 1) % (8 * n)) + " - 1";
                      }),
                      "u0 > 3"};
     }},
    {"a chain of implications",
     [](int n) {
       return Problem{list(6 * n, [](int i) {
                        return "(" + sym('u', i) + " < " + to_string(i % 7) + ") | (" + sym('u', i + 1) + " > " + to_string(i % 5) + ")";
                      }),
                      "u0 > u1"};
     }},
    {"masks and sums",
     [](int n) {
       return Problem{{},
                      nested(std::min(n, 180), "s0", [](auto x, int i) {
                        return "((" + x + " & " + to_string((1 << (i % 20)) - 1) + ") + " + sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"sums of squares",
     [](int n) {
       return Problem{list(std::min(n, 30), [](int i) {
                        return "Eq(" + sym('u', i) + "**2 + " + sym('u', i + 1) + "**2 + " + sym('u', i + 2) + "**2, " + to_string(1000003 + 77 * i) + ")";
                      }),
                      "u0 > u1"};
     }},
    {"equalities with common factors",
     [](int n) {
       return Problem{list(6 * n, [](int i) {
                        return "Eq(" + to_string(6 * i + 6) + "*" + sym('u', i) + ", " + to_string(10 * i + 4) + "*" + sym('u', i + 1) + ")";
                      }),
                      "Eq(Mod(u0, 2), 0)"};
     }},
    {"sums of modular indices",
     [](int n) {
       return Problem{{},
                      joined(6 * n, " + ", [](int i) {
                        return to_string(i + 1) + "*ModularIndexing(" + sym('s', i % 4) + "*" + to_string(i + 2) + " + u0, " + to_string(i + 1) + ", " + to_string(2 * i + 3) + ")";
                      }) + " > s0"};
     }},
    {"roundings of every kind",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return (i % 3 == 0 ? "round((" : i % 3 == 1 ? "math.trunc((" : "math.ceil((") + x + ")*1.5 - " + sym('u', i % 3) + "/3)";
                      }) + " < 9"};
     }},
    {"products that feed products",
     [](int n) {
       return Problem{list(3 * n, [](int i) {
                        return "Eq(" + sym('u', i) + ", " + sym('u', i + 1) + "*" + sym('u', i + 2) + " + 1)";
                      }),
                      "u0 > u2"};
     }},
    {"equal extrema in other orders",
     [](int n) {
       return Problem{{},
                      "Eq(Max(" + joined(6 * n, ", ", [](int i) {
                        return sym('u', i) + " + " + sym('s', i % 5);
                      }) + "), Max(" + joined(6 * n, ", ", [n](int i) {
                        return sym('u', 6 * n - 1 - i) + " + " + sym('s', (6 * n - 1 - i) % 5);
                      }) + "))"};
     }},
    {"arms that decide arms",
     [](int n) {
       return Problem{{},
                      nested(n, "s0", [](auto x, int i) {
                        return "Where(" + x + " > " + sym('s', i % 3) + ", Mod(" + sym('u', i % 4) + ", " + to_string(i + 2) + "), " + sym('s', i % 5) + "//" + to_string(i + 2) + ")";
                      }) + " < 9"};
     }},
    {"absolute remainders of powers",
     [](int n) {
       return Problem{{},
                      nested(std::min(n, 180), "s0", [](auto x, int i) {
                        return "Abs(Mod((" + x + " - 3)**2, 10007) - " + sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"powers of decimals",
     [](int n) {
       return Problem{{},
                      joined(4 * n, " + ", [](int i) {
                        return "(s0*1.25)**" + to_string(i % 30 + 2) + "*0.001";
                      }) + " < 1e9"};
     }},
    {"guards of products and floors",
     [](int n) {
       return Problem{list(3 * n, [](int i) {
                        return "Eq((" + sym('s', i) + "*" + sym('s', i + 1) + ")//" + to_string(i + 2) + ", " + sym('s', i + 2) + "*" + to_string(i % 3 + 1) + " + " + sym('u', i % 4) + ")";
                      }),
                      "s0*s1 >= u0"};
     }},
};
// clang-format on

}  // namespace

const std::vector<Family>& mixed_bombs() { return kFamilies; }

}  // namespace proviso::testing
