#include "tests/bombs/bombs.h"

#include <algorithm>
#include <cctype>

#include "sym/operators.h"
#include "sym/parse.h"
#include "tests/bombs/texts.h"

namespace proviso::testing {

using std::to_string;

namespace {

bool is_prime(int p) {
  int divisor = 2;
  while (divisor * divisor <= p && p % divisor != 0) ++divisor;
  return divisor * divisor > p;
}

// clang-format off
const std::vector<Family> kFamilies = {
    {"nested cubes",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int) {
                        return "(" + x + "+1)**3";
                      }) + " >= 7"};
     }},
    {"nested connectives",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "((" + x + (i % 2 ? ") & (" : ") | (") +
                               sym('s', i % 5) + " > " + to_string(i) + "))";
                      })};
     }},
    {"a tree of connectives",
     [](int n) {
       std::function<std::string(int, int)> tree = [&](int level, int i) {
         if (level == 0) {
           return "(" + sym('s', i % 7) + "*" + to_string(i + 2) + " > " +
                  sym('u', i % 5) + " + " + to_string(i) + ")";
         }
         return "(" + tree(level - 1, 2 * i + 1) +
                (level % 2 ? " & " : " | ") + tree(level - 1, 2 * i + 2) + ")";
       };
       return Problem{{}, tree(n < 32 ? n / 4 + 1 : 8, 0)};
     }},
    {"equal truths",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return (i % 2 ? "Eq(" : "Ne(") + x + ", " +
                               sym('s', i % 5) + " > " + to_string(i) + ")";
                      })};
     }},
    {"boolean arms",
     [](int n) {
       return Problem{{}, nested(n, "(s0 > 1)", [](auto x, int i) {
                        return "Where(" + sym('s', i % 5) + " > " +
                               to_string(i) + ", " + x + ", ~(s1 > " +
                               to_string(i) + "))";
                      })};
     }},
    {"integer arms",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "Where(" + sym('s', i % 5) + " > " +
                               to_string(i) + ", " + x + ", s1 + " +
                               to_string(i) + ")";
                      }) + " >= 3"};
     }},
    {"a chain of xor",
     [](int n) {
       return Problem{{}, joined(4 * n, " ^ ", [](int i) {
                        return "(" + sym('s', i % 9) + " > " + to_string(i) +
                               ")";
                      })};
     }},
    {"a power of symbols",
     [](int n) {
       return Problem{{}, "u2**u0 <= 2**" + to_string(std::min(1000 * n, 65000))};
     }},
    {"products of big integers",
     [](int n) {
       return Problem{{}, joined(n, "*", [](int) {
                        return std::string("(2**65535)");
                      }) + "*s0 > 5"};
     }},
    {"rows of big coefficients",
     [](int n) {
       return Problem{list(6, [n](int i) {
                        return digits('7', 12 * n) + "*" + sym('s', i) + " + " +
                               digits('3', 12 * n + i) + "*" + sym('s', i + 1) +
                               " >= " + sym('s', i + 2);
                      }), "s0 + s1 + s3 >= 5"};
     }},
    {"a big modulus",
     [](int n) {
       return Problem{{"Eq(s0 % 2**" + to_string(500 * n) + ", 5)"}, "s0 > 3"};
     }},
    {"products over sums",
     [](int n) {
       return Problem{{}, nested(n, "x", [](auto x, int) {
                        return x + "*(i+s)//(s+i)";
                      }) + " > 3"};
     }},
    {"many arguments of Max",
     [](int n) {
       return Problem{{}, "Max(" + joined(8 * n, ",", [](int i) {
                        return sym('s', i) + "+" + to_string(i) + "*" +
                               sym('u', i % 7);
                      }) + ") >= s0"};
     }},
    {"Min within Max",
     [](int n) {
       return Problem{{}, "Max(" + joined(5 * n, ",", [](int i) {
                        return "Min(" + sym('s', i) + ", " + sym('u', i % 7) +
                               "+" + to_string(i) + ")";
                      }) + ") >= s0"};
     }},
    {"open products",
     [](int n) {
       return Problem{list(std::min(n, 60), [](int i) {
                        return sym('u', i) + "*" + sym('u', i + 1) + "*" +
                               sym('s', i) + " <= " + sym('s', i + 1) + "**" +
                               to_string(i % 4 + 2) + " + " + sym('u', i);
                      }), "u0**3*s0 + u1**5 != s1**4*u2 + 17"};
     }},
    {"a power of a sum",
     [](int n) {
       return Problem{{}, "Eq((" + joined(n, "+", [](int i) {
                        return sym('s', i);
                      }) + ")**8, 17)"};
     }},
    {"a product of sums",
     [](int n) {
       return Problem{{}, joined(12 * n, "*", [](int i) {
                        return "(" + sym('s', i) + "+1)";
                      }) + " > 3"};
     }},
    {"a sum of products",
     [](int n) {
       return Problem{{}, joined(12 * n, "+", [](int i) {
                        return to_string(i + 1) + "*" + sym('s', i) + "*" +
                               sym('u', i % 13);
                      }) + " > 3"};
     }},
    {"nested remainders",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "Mod(" + x + "*" + to_string(i + 3) + " + " +
                               sym('u', i % 4) + ", " + to_string(7 * i + 5) +
                               ")";
                      }) + " < 3"};
     }},
    {"divisors that are symbols",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "((" + x + " + " + sym('u', i % 4) + ")//(" +
                               sym('u', (i + 1) % 4) + "+s1))";
                      }) + " < 3"};
     }},
    {"nested ceilings",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "CeilDiv(" + x + "*u1 + " + to_string(i) + ", " +
                               sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"modular indexing",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "ModularIndexing(" + x + ", " + sym('u', i % 3) +
                               "+1, " + sym('u', (i + 1) % 3) + "+2)";
                      }) + " < 9"};
     }},
    {"nested bits",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "((" + x + " & " + sym('u', i % 5) + ") | (" +
                               sym('u', (i + 1) % 5) + " ^ " + to_string(i) +
                               "))";
                      }) + " < 9"};
     }},
    {"nested shifts",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "(" + x + " << " + sym('u', i % 3) + ")";
                      }) + " < 9"};
     }},
    {"nested fractions",
     [](int n) {
       return Problem{{}, nested(n, "s0/3", [](auto x, int i) {
                        return "((" + x + ")*" + sym('s', i % 4) + "/7.25 + " +
                               sym('s', (i + 1) % 4) + "/" + to_string(i + 2) +
                               ")";
                      }) + " < 9"};
     }},
    {"nested rounding",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "round((" + x + ")/" + to_string(i + 2) + ")";
                      }) + " < 9"};
     }},
    {"equal products",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Eq(" + sym('u', i) + "*" + sym('u', i + 1) +
                               ", " + sym('u', i + 2) + "*" + sym('s', i) + ")";
                      }), "u0*" + sym('u', n) + " > 3"};
     }},
    {"equalities through floors",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(" + sym('s', i) + ", 3*" + sym('s', i + 1) +
                               "//2 + " + sym('u', i % 3) + ")";
                      }), "s0 >= 3"};
     }},
    {"clauses",
     [](int n) {
       return Problem{list(n, [n](int i) {
                        return "(" + sym('u', i) + " > " +
                               sym('u', (7 * i + 3) % n) + " + 1) | (" +
                               sym('u', (5 * i + 1) % n) + " < " +
                               to_string(i) + ") | Eq(" + sym('u', i) +
                               ", 2*" + sym('u', (i + 2) % n) + ")";
                      }), "u0 + u1 >= 3"};
     }},
    {"pigeons",
     [](int n) {
       Problem p{{}, "u0 > 1"};
       const int pigeons = std::min(n, 22);
       for (int i = 0; i < pigeons; ++i) {
         p.facts.push_back("(" + sym('u', i) + " >= 0) & (" + sym('u', i) +
                           " < " + to_string(pigeons - 1) + ")");
         for (int j = 0; j < i; ++j) {
           p.facts.push_back("Ne(" + sym('u', i) + ", " + sym('u', j) + ")");
         }
       }
       return p;
     }},
    {"rows",
     [](int n) {
       return Problem{list(4 * n, [n](int i) {
                        return "3*" + sym('s', i) + " + 2*" +
                               sym('s', (7 * i + 3) % (4 * n)) + " - " +
                               sym('s', (5 * i + 1) % (4 * n)) + " >= " +
                               to_string(i);
                      }), "s0 + s1 >= 3"};
     }},
    {"roots of a large polynomial",
     [](int n) {
       return Problem{{"Eq(u0**8 + " + digits('9', 20 * n) + "*u0**3, " +
                       digits('8', 50 * n) + ")"}, "u0 > 3"};
     }},
    {"a root of digits",
     [](int n) {
       return Problem{{}, "sqrt(" + digits('9', 100 * n) + ") > s0"};
     }},
    {"digits",
     [](int n) { return Problem{{}, "s0 > " + digits('9', 100 * n)}; }},
    {"decimals",
     [](int n) { return Problem{{}, "s0/3 > 0." + digits('9', 100 * n)}; }},
    {"congruences",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Mod(s0*" + to_string(i + 2) + " + " +
                               sym('u', i % 5) + ", " + to_string(i * i + 7) +
                               ") <= " + to_string(i % 3 + 1);
                      }), "Eq(Mod(s0, 4), 0)"};
     }},
    {"high powers",
     [](int n) {
       return Problem{{"s0**" + to_string(std::min(n, 64)) + " >= u0**" +
                       to_string(std::min(n + 1, 64)) + "*10**" +
                       to_string(10 * n)}, "s0**7*u0**9 > 10**400"};
     }},

    // --- facts that interact
    {"a tower of squares",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(" + sym('s', i + 1) + ", " + sym('s', i) +
                               "*" + sym('s', i) + " + " + sym('s', i) + ")";
                      }), sym('s', 4 * n) + " > s0"};
     }},
    {"a tower of plain squares",
     [](int n) {
       return Problem{list(2 * n, [](int i) {
                        return "Eq(" + sym('u', i + 1) + ", " + sym('u', i) +
                               "**2)";
                      }), sym('u', 2 * n) + " > 3"};
     }},
    {"Fibonacci's equalities",
     [](int n) {
       return Problem{list(6 * n, [](int i) {
                        return "Eq(" + sym('u', i + 2) + ", " +
                               sym('u', i + 1) + " + " + sym('u', i) + ")";
                      }), sym('u', 6 * n) + " >= 3*u0"};
     }},
    {"equalities through Max",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(" + sym('u', i + 1) + ", Max(" +
                               sym('u', i) + ", 3 - 2*" + sym('u', i) + "))";
                      }), sym('u', 4 * n) + " >= u0"};
     }},
    {"congruences by many primes",
     [](int n) {
       return Problem{list(4 * n, [](int i) {
                        return "Eq(Mod(u0, " + to_string(6 * i + 5) + "), " +
                               to_string(i % 5) + ")";
                      }), "u0 >= 100"};
     }},
    {"a size modulo the first primes",
     [](int n) {
       std::vector<std::string> facts;
       for (int p = 2; std::ssize(facts) < 4 * n; ++p) {
         if (!is_prime(p)) continue;
         facts.push_back("Eq(Mod(s0, " + to_string(p) + "), " +
                         to_string(p / 2) + ")");
       }
       return Problem{std::move(facts), "s0 + 1 >= s1*s1"};
     }},
    {"a sum of a size modulo primes",
     [](int n) {
       int p = 1;
       return Problem{{}, joined(6 * n, " + ", [&](int) {
                        do ++p; while (!is_prime(p));
                        return "s0%" + to_string(p);
                      }) + " > s0"};
     }},
    {"sums of sizes modulo many numbers",
     [](int n) {
       return Problem{list(2 * n, [](int i) {
                        return "Eq(Mod(" + sym('s', i % 7) + " + s0*" +
                               to_string(i) + ", " + to_string(6 * i + 5) +
                               "), " + to_string(i % 5) + ")";
                      }), "s0 + 1 >= s1*s1"};
     }},
    {"parities of sums",
     [](int n) {
       return Problem{list(2 * n, [n](int i) {
                        return "Eq(Mod(" + sym('u', i % n) + " + " +
                               sym('u', (i * i + 3) % n) + " + " +
                               sym('u', (7 * i + 1) % n) + ", 2), " +
                               to_string(i % 2) + ")";
                      }), "Eq(Mod(u0 + u1, 2), 0)"};
     }},
    {"a dense system",
     [](int n) {
       const int m = std::min(n, 24);
       return Problem{list(m, [m](int i) {
                        return "Eq(" + joined(m, " + ", [i](int j) {
                                 return to_string((i * i + 7 * j + i * j) % 97 -
                                                  48) + "*" + sym('u', j);
                               }) + ", " + to_string(i * 31) + ")";
                      }), "u0 >= 2*u1"};
     }},
    {"a dense graph of differences",
     [](int n) {
       return Problem{list(8 * n, [n](int i) {
                        return sym('u', (i * 7) % n) + " - " +
                               sym('u', (i * i + 3) % n) + " <= " +
                               to_string((i * 37) % 101 - 20);
                      }), "u0 - u1 <= 3"};
     }},
    {"clauses of zeros and ones",
     [](int n) {
       std::vector<std::string> facts = list(n, [](int i) {
         return "(" + sym('u', i) + " >= 0) & (" + sym('u', i) + " <= 1)";
       });
       for (int i = 0; i < 4 * n; ++i) {
         facts.push_back(joined(3, " | ", [&](int k) {
           return "Eq(" + sym('u', (i * (k + 3) + k * k * 5) % n) + ", " +
                  to_string((i >> k) % 2) + ")";
         }));
       }
       return Problem{std::move(facts), "Eq(u0, u1)"};
     }},
    {"a knapsack",
     [](int n) {
       const int m = 2 * n;
       std::vector<std::string> facts = list(m, [](int i) {
         return "(" + sym('u', i) + " >= 0) & (" + sym('u', i) + " <= 1)";
       });
       return Problem{std::move(facts), "Eq(" + joined(m, " + ", [](int i) {
                        return to_string(100003 + 7919 * i * i) + "*" +
                               sym('u', i);
                      }) + ", " + to_string(100003 * m / 3) + ")"};
     }},
    {"slow propagation",
     [](int n) {
       std::vector<std::string> facts = {"u0 >= 0", "u1 <= 2**62"};
       for (int i = 0; i < n; ++i) {
         facts.push_back("3*" + sym('u', i) + " <= 2*" + sym('u', i + 1) +
                         " - " + to_string(i + 1));
         facts.push_back("3*" + sym('u', i + 1) + " <= 4*" + sym('u', i) +
                         " + " + to_string(i));
       }
       return Problem{std::move(facts), "u0 + u1 >= 5"};
     }},
    {"a range with holes",
     [](int n) {
       std::vector<std::string> facts = {"(u0 >= 0) & (u0 <= " +
                                         to_string(12 * n) + ")"};
       for (int i = 0; i < 10 * n; ++i)
         facts.push_back("Ne(u0, " + to_string(i) + ")");
       return Problem{std::move(facts), "u0*u0 >= 5*u1"};
     }},
    {"alternatives of values",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return joined(6, " | ", [i](int k) {
                          return "Eq(" + sym('u', i) + ", " +
                                 to_string(k * k * 3 + i) + ")";
                        });
                      }), "Eq(" + joined(n, " + ", [](int i) {
                        return sym('u', i);
                      }) + ", 1234567)"};
     }},
    {"orders of alternatives",
     [](int n) {
       const int m = std::min(n, 14);
       std::vector<std::string> facts;
       for (int i = 0; i < m; ++i) {
         for (int j = 0; j < i; ++j) {
           facts.push_back("(" + sym('u', i) + " + " + to_string(i + 2) +
                           " <= " + sym('u', j) + ") | (" + sym('u', j) +
                           " + " + to_string(j + 2) + " <= " + sym('u', i) +
                           ")");
         }
       }
       return Problem{std::move(facts), "u0 + 30 <= u1"};
     }},
    {"long facts in a reason",
     [](int n) {
       return Problem{list(std::min(n, 40), [n](int i) {
                        return "(" + joined(std::max(1, n / 12), " + ",
                                            [i](int j) {
                                 return to_string(i + j + 1) + "*" +
                                        sym('u', i + j);
                               }) + ")*" + sym('s', i) + " <= " +
                               sym('s', i + 1);
                      }), "s0 <= " + sym('s', n)};
     }},

    // --- numbers
    {"a tower of powers",
     [](int n) {
       return Problem{{}, joined(std::min(n, 90), "**", [](int) {
                        return std::string("s0");
                      }) + " > 3"};
     }},
    {"powers of numbers",
     [](int n) {
       return Problem{{}, nested(std::min(n, 90), "2", [](auto x, int i) {
                        return "(" + x + ")**" + to_string(i % 3 + 7);
                      }) + " > s0"};
     }},
    {"equations of large numbers",
     [](int n) {
       return Problem{list(std::min(n, 8), [n](int i) {
                        return "Eq(" + digits('7', 4 * n + i) + "*" +
                               sym('u', i) + " + " + digits('3', 5 * n + 2 * i) +
                               "*" + sym('u', i + 1) + ", " +
                               digits('9', 7 * n) + "1)";
                      }), "u0 > u1"};
     }},
    {"a product that is a large number",
     [](int n) {
       return Problem{{"u0 >= 2", "u1 >= 2", "Eq(u0*u1, " +
                       digits('7', 40 * n) + "3)"}, "u0 > u1"};
     }},
    {"squares by a large modulus",
     [](int n) {
       return Problem{{"Eq(Mod(u0*u0*u0, " + digits('9', 20 * n) + "7), 2)",
                       "Eq(Mod(u0*u1, " + digits('7', 20 * n) + "), 5)"},
                      "Eq(Mod(u0, 4), 0)"};
     }},
    {"Pell's equation",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Eq(" + sym('u', i) + "**2 - " +
                               to_string(61 + 2 * i) + "*" +
                               sym('u', i + 1) + "**2, 1)";
                      }), "u0 > u1 + 1"};
     }},
    {"shifts by numbers",
     [](int n) {
       return Problem{{}, nested(std::min(n, 180), "1", [](auto x, int i) {
                        return "(" + x + " << " + to_string(60000 + i) + ")";
                      }) + " > s0"};
     }},
    {"masks of large numbers",
     [](int n) {
       return Problem{{}, joined(std::min(n, 24), " | ", [n](int i) {
                        return "(" + sym('u', i) + " & " +
                               digits('9', 6 * n + i) + ")";
                      }) + " >= " + digits('8', 6 * n)};
     }},
    {"sums of decimals",
     [](int n) {
       return Problem{{}, joined(8 * n, " + ", [](int i) {
                        return "s" + to_string(i % 3) + "/" +
                               to_string(2 * i + 3);
                      }) + " < 7.125"};
     }},
    {"sums of fractions of different symbols",
     [](int n) {
       return Problem{{}, joined(std::min(16 * n, 1000), " + ", [](int i) {
                        return sym('s', i) + "/" +
                               to_string(2 * (i * 37 % 4500) + 1001);
                      }) + " > 3"};
     }},
    {"products of sums with fractions",
     [](int n) {
       return Problem{{}, joined(std::min(8 * n, 500), "*", [](int i) {
                        return "(" + sym('s', i) + " + 1/" + to_string(i + 2) +
                               ")";
                      }) + " > 3"};
     }},
    {"products of decimals",
     [](int n) {
       return Problem{{}, joined(8 * n, "*", [](int i) {
                        return "(s0/" + to_string(2 * i + 3) + ")";
                      }) + " < 1e300"};
     }},
    {"exponents of decimals",
     [](int n) {
       return Problem{{"s0*1e" + to_string(40 * n) + " < s1*1e-" +
                       to_string(50 * n)}, "TruncToInt(s0*1e" +
                       to_string(30 * n) + ") > 1e" + to_string(20 * n)};
     }},

    {"remainders of powers",
     [](int n) {
       return Problem{list(std::min(2 * n, 232), [](int i) {
                        return "Mod(3**" + to_string(65000 - i) + ", 7**" +
                               to_string(20000 + i) + ") < s0";
                      }), "s0 > 3"};
     }},
    {"remainders by powers",
     [](int n) {
       return Problem{list(n, [](int i) {
                        return "Mod(Mod(Mod(s0, 7**" + to_string(23000 - i) +
                               "), 7**" + to_string(22000 - i) + "), 7**" +
                               to_string(21000 - i) + ") > 1";
                      }), "s0 > 3"};
     }},
    {"products of three that are large numbers",
     [](int n) {
       return Problem{list(2 * n, [](int i) {
                        return "Eq(" + sym('u', i) + "*" + sym('u', i + 1) +
                               "*" + sym('u', i + 2) + ", 7**30 + " +
                               to_string(i) + ")";
                      }), "u0 > 7"};
     }},
    {"products of two that are numbers of two words",
     [](int n) {
       return Problem{list(2 * n, [](int i) {
                        return "Eq(" + sym('u', i) + "*" + sym('u', i + 1) +
                               ", 7**43 - " + to_string(i) + ")";
                      }), "u0 > 7"};
     }},
    {"a product of sums of large decimals",
     [](int n) {
       return Problem{{}, joined(std::min(n / 3, 12), "*", [](int i) {
                        return "(" + sym('u', i) + "*1e-300 + 1e300)";
                      }) + " < 7.5"};
     }},
    {"quotients by small decimals",
     [](int n) {
       return Problem{{}, "s0" + joined(7 * n, "", [](int) {
                        return std::string("/3e-308");
                      }) + " > 2.5"};
     }},
    {"rows of primes",
     [](int n) {
       static constexpr int kPrimes[] = {211, 223, 227, 229, 233, 239, 241,
                                         251, 257, 263, 269, 271, 277, 281};
       const auto prime = [](int i) { return to_string(kPrimes[i % 14]); };
       const int m = n + n / 4;
       return Problem{list(m, [&](int i) {
                        return prime(i) + "*" + sym('u', i) + " + " +
                               prime(i * i + 5) + "*" +
                               sym('u', (i * i + 1) % m) + " - " +
                               prime(3 * i + 9) + "*" +
                               sym('u', (i * 7 + 2) % m) + " >= " +
                               to_string(i);
                      }), "u0 + u1 >= 3*u2"};
     }},
    {"a hidden parity",
     [](int n) {
       return Problem{{"Eq(" + joined(3 * n, " + ", [](int i) {
                        return sym('u', i) + "*(" + sym('u', i) + " + 1)";
                      }) + ", 2*" + sym('u', 3 * n) + " + 1)"}, "u0 > 3"};
     }},

    // --- shapes of one expression
    {"absolute values",
     [](int n) {
       return Problem{{}, nested(std::min(n, 180), "u0", [](auto x, int i) {
                        return "Abs(" + x + " - " + to_string(3 * i + 1) + ")";
                      }) + " <= 2"};
     }},
    {"products of arms",
     [](int n) {
       return Problem{{}, joined(6 * n, "*", [](int i) {
                        return "Where(" + sym('u', i) + " > " + to_string(i) +
                               ", " + to_string(i + 2) + ", " + sym('s', i) +
                               ")";
                      }) + " > 1"};
     }},
    {"sums of arms",
     [](int n) {
       return Problem{{}, "Eq(" + joined(6 * n, " + ", [](int i) {
                        return "Where(" + sym('u', i) + " > " + to_string(i) +
                               ", " + to_string(i * i * i) + ", 0)";
                      }) + ", 100001)"};
     }},
    {"arms as conditions",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "Where(" + x + " > " + sym('u', i % 3) +
                               ", u1 + " + to_string(i) + ", u2 - " + to_string(i) +
                               ")";
                      }) + " > 7"};
     }},
    {"products of floors",
     [](int n) {
       return Problem{{}, joined(10 * n, "*", [](int i) {
                        return "(" + sym('s', i % 4) + "//" +
                               to_string(i + 2) + ")";
                      }) + " > 3"};
     }},
    {"sums of floors",
     [](int n) {
       return Problem{{}, joined(10 * n, " + ", [](int i) {
                        return "(" + to_string(2 * i + 1) + "*" +
                               sym('s', i % 4) + ")//" + to_string(3 * i + 2);
                      }) + " > s0"};
     }},
    {"remainders of remainders",
     [](int n) {
       return Problem{{}, nested(n, "s0", [](auto x, int i) {
                        return "Mod(" + x + ", " + sym('s', i + 1) + ")";
                      }) + " <= s1"};
     }},
    {"a quotient of quotients",
     [](int n) {
       return Problem{{}, nested(n, "(s0*s1)", [](auto x, int i) {
                        return "((" + x + "//" + sym('s', i % 5) + ")*" +
                               sym('s', (i + 2) % 5) + ")";
                      }) + " <= s0"};
     }},
    {"equal connectives",
     [](int n) {
       const auto side = [](int m, const char* inner, const char* outer) {
         return joined(m, outer, [inner](int i) {
           return "((" + sym('u', i) + " > 1)" + inner + "(" +
                  sym('u', i + 1) + " < " + to_string(i) + "))";
         });
       };
       return Problem{{}, "Eq(" + side(4 * n, " | ", " & ") + ", " +
                              side(4 * n, " & ", " | ") + ")"};
     }},
    {"a lattice of extrema",
     [](int n) {
       const int m = 2 * n;
       return Problem{{}, "Eq(Max(" + joined(m, ", ", [m](int i) {
                        return "Min(" + sym('u', i) + ", " +
                               sym('u', (i + 1) % m) + ", " +
                               sym('u', (3 * i + 2) % m) + ")";
                      }) + "), Min(" + joined(m, ", ", [m](int i) {
                        return "Max(" + sym('u', i) + ", " +
                               sym('u', (i + 1) % m) + ")";
                      }) + "))"};
     }},
    {"products of extrema",
     [](int n) {
       return Problem{{}, joined(6 * n, "*", [](int i) {
                        return "Max(" + sym('u', i) + ", " +
                               sym('u', (i * 3 + 1) % 7) + " - " +
                               to_string(i) + ")";
                      }) + " > 3"};
     }},
    {"Vandermonde's product",
     [](int n) {
       std::vector<std::string> factors;
       const int m = std::min(n, 24);
       for (int i = 0; i < m; ++i) {
         for (int j = 0; j < i; ++j)
           factors.push_back("(" + sym('u', i) + " - " + sym('u', j) + ")");
       }
       return Problem{{}, joined(static_cast<int>(factors.size()), "*",
                                 [&](int i) {
                        return factors[static_cast<size_t>(i)];
                      }) + " > 3"};
     }},
    {"Horner's polynomial",
     [](int n) {
       return Problem{{}, nested(n, "u0", [](auto x, int i) {
                        return "(" + x + "*" + sym('u', i % 3) + " - " +
                               to_string(i) + ")";
                      }) + " >= u1*u2 - 7"};
     }},
    {"a comparison of powers of sums",
     [](int n) {
       return Problem{{}, "(s0 + s1 + " + to_string(n) + ")**" +
                          to_string(std::min(4 * n, 600)) + " > (s1 + s2)**" +
                          to_string(std::min(4 * n + 1, 601))};
     }},
    {"bits of sums",
     [](int n) {
       return Problem{{}, nested(std::min(n, 150), "u0", [](auto x, int i) {
                        return "((" + x + " + " + sym('u', i % 5) + ") ^ (" +
                               sym('u', (i + 2) % 5) + " >> " +
                               to_string(i % 9) + "))";
                      }) + " < 9"};
     }},
    {"roots of roots",
     [](int n) {
       return Problem{{}, nested(std::min(n, 180), "(s0 + 1)",
                                 [](auto x, int i) {
                        return "math.floor(sqrt(" + x + " + " + to_string(i) +
                               "))*s1";
                      }) + " < 9"};
     }},
    {"a chain of comparisons",
     [](int n) {
       return Problem{{}, joined(20 * n, " < ", [](int i) {
                        return sym('u', (i * 7) % 50);
                      })};
     }},
    {"signs",
     [](int n) {
       return Problem{{}, std::string(static_cast<size_t>(50 * n), '-') +
                              "s0 < " +
                              std::string(static_cast<size_t>(n), '~') + "u0"};
     }},
    {"branches in Python",
     [](int n) {
       return Problem{{}, joined(6 * n, " else ", [n](int i) {
                        return i + 1 == 6 * n ? std::string("(0)")
                                              : "(u" + to_string(i % 7) + " + " +
                                                    to_string(i) + ") if u" +
                                                    to_string(i % 5) + " > " +
                                                    to_string(i * 3 % 11);
                      }) + " < 9"};
     }},
    {"long names",
     [](int n) {
       return Problem{list(8, [n](int i) {
                        return digits('a', 5 * n) + sym('q', i) + "*" +
                               digits('a', 5 * n) + sym('q', i + 1) + " <= 3";
                      }), digits('a', 5 * n) + "q0 <= 3"};
     }},
    {"srepr of a wide sum",
     [](int n) {
       return Problem{{}, "StrictLessThan(Add(" + joined(3 * n, ", ",
                                                         [](int i) {
                        return "Mul(Integer(" + to_string(i - 3) +
                               "), Symbol('s" + to_string(i % 9) +
                               "', integer=True), Symbol('u" + to_string(i) +
                               "', integer=True))";
                      }) + "), Integer(7))"};
     }},
};
// clang-format on

}  // namespace

namespace {

struct Symbols {
  Expr s0, s1, u0, u1;
};

// step applied n times to s0, compared with u0.
Family deep(const char* name,
            std::function<Expr(const Symbols&, Expr inner, int i)> step,
            bool is_condition = false) {
  return {name, [=](int n) {
            Problem p;
            p.build = [=](ExprPool& pool) {
              const Symbols all{pool.symbol("s0", SymbolKind::kBackedSize),
                                pool.symbol("s1", SymbolKind::kBackedSize),
                                pool.symbol("u0", SymbolKind::kUnbackedInt),
                                pool.symbol("u1", SymbolKind::kUnbackedInt)};
              Expr e = is_condition ? gt(all.s0, 1) : all.s0;
              for (int i = 0; i < n; ++i) e = step(all, e, i);
              return is_condition ? e : le(e, all.u0);
            };
            return p;
          }};
}

const std::vector<Family> kDeepFamilies = {
    deep("deep floors", [](const Symbols& s, Expr e,
                           int) { return floor_div(e + s.u1, s.s1); }),
    deep("deep halves",
         [](const Symbols& s, Expr e, int) {
           return floor_div(e + 1, s.s0.pool().integer(2));
         }),
    deep("deep products",
         [](const Symbols& s, Expr e, int i) { return (e + i) * s.u1; }),
    deep("deep squares",
         [](const Symbols& s, Expr e, int) {
           return s.s0.pool().make(Op::kPow, {e + 1, s.s0.pool().integer(2)});
         }),
    deep("deep sums",
         [](const Symbols& s, Expr e, int) {
           return s.s0.pool().make(Op::kAdd, {e, s.u1});
         }),
    deep("deep remainders",
         [](const Symbols& s, Expr e, int i) {
           return mod(e * 3 + s.u1, s.s0.pool().integer(i + 2));
         }),
    deep("deep extrema",
         [](const Symbols& s, Expr e, int i) {
           return i % 2 ? max(e - s.u0, s.u1) : min(e + i, s.s1);
         }),
    deep("deep arms", [](const Symbols& s, Expr e,
                         int i) { return where(gt(s.u1, i), e, s.s1 + i); }),
    deep("deep conditions of arms",
         [](const Symbols& s, Expr e, int i) {
           return where(gt(e, s.u1), s.s1 + i, s.u0);
         }),
    deep("deep roots",
         [](const Symbols& s, Expr e, int) {
           ExprPool& pool = s.s0.pool();
           return pool.make(Op::kFloorToInt,
                            {pool.make(Op::kIntTrueDiv, {e, s.s1})});
         }),
    deep("deep bits",
         [](const Symbols& s, Expr e, int i) {
           return s.s0.pool().make(i % 2 ? Op::kBitAnd : Op::kBitXor,
                                   {e, s.u1});
         }),
    deep(
        "deep connectives",
        [](const Symbols& s, Expr e, int i) {
          return i % 2 ? logical_and(e, gt(s.u1, i))
                       : logical_or(e, lt(s.u0, i));
        },
        true),
    deep(
        "deep negations",
        [](const Symbols& s, Expr e, int i) {
          return logical_not(logical_and(e, gt(s.u1, i)));
        },
        true),
    deep(
        "deep equal truths",
        [](const Symbols& s, Expr e, int i) {
          return s.s0.pool().make(i % 2 ? Op::kEq : Op::kNe, {e, gt(s.u1, i)});
        },
        true),
    deep("deep shared squares",
         [](const Symbols& s, Expr e, int) { return floor_div(e * e, s.s1); }),
    deep("deep shared extrema",
         [](const Symbols& s, Expr e, int i) {
           return max(e, mod(e, s.s0.pool().integer(i + 2)));
         }),
    deep(
        "deep shared truths",
        [](const Symbols& s, Expr e, int i) {
          return where(e, logical_not(e), gt(s.u1, i));
        },
        true),
};

}  // namespace

const std::vector<Family>& deep_bombs() { return kDeepFamilies; }

Expr Problem::question_in(ExprPool& pool) const {
  return build ? build(pool) : parse(pool, question);
}

size_t Problem::length() const {
  size_t total = question.size() + log.size();
  for (const std::string& fact : facts) total += fact.size();
  return total;
}

const std::vector<Family>& bombs() {
  static const std::vector<Family> all = [] {
    std::vector<Family> joined = kFamilies;
    joined.insert(joined.end(), mixed_bombs().begin(), mixed_bombs().end());
    return joined;
  }();
  return all;
}

std::string test_name(std::string name) {
  for (char& c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  return name;
}

}  // namespace proviso::testing
