// Drives a fuzz target without libFuzzer: `target N [SEED]` runs N inputs made
// from a seed (printed), half of them mutations of sentences of the language.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);

namespace {

// clang-format off
const char* const kSentences[] = {
    "Eq(Mod(s0, 8), 0)", "2*s0 + 3*u0//4 <= Max(s1, 7) - 1",
    "((u0//2)) >= 5 & ~(u1 < 3)", "Where(s0 > 3, u0, 1//0)",
    "ModularIndexing(s0, 2, 3) ** 2", "RoundToInt(IntTrueDiv(u0, 2))",
    "Symbol('s0', positive=True, integer=True)", "s0 << 3 | 7 ^ ~u0",
    "symbol s0 backed hint 4 range [2, int_oo]\nask static s0 > 1 ; truth valid",
    "a < b < c == 2.5e-3", "not (x and y or z) if c else 12345678901234567890",
};
// clang-format on

std::string make_input(std::mt19937& random) {
  std::string text;
  if (random() % 2 == 0) {
    size_t length = random() % 64;
    for (size_t i = 0; i < length; ++i) {
      text += static_cast<char>(random() % 96 + 32);
    }
    return text;
  }
  text = kSentences[random() % std::size(kSentences)];
  for (size_t edits = random() % 4; edits > 0 && !text.empty(); --edits) {
    size_t at = random() % text.size();
    switch (random() % 3) {
      case 0: text.erase(at, 1 + random() % 3); break;
      case 1: text.insert(at, 1, "()*+-/%<>=&|~0s,.'"[random() % 18]); break;
      default: text.insert(at, kSentences[random() % std::size(kSentences)]);
    }
  }
  return text;
}

}  // namespace

int main(int argc, char** argv) {
  long count = argc > 1 ? std::atol(argv[1]) : 1000;
  unsigned seed = argc > 2 ? static_cast<unsigned>(std::atol(argv[2])) : 1;
  std::printf("%ld inputs, seed %u\n", count, seed);
  std::mt19937 random(seed);
  for (long i = 0; i < count; ++i) {
    std::string text = make_input(random);
    LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t*>(text.data()),
                           text.size());
  }
}
