// Laws of explain (explain_laws.h) of texts that are put together from what
// PyTorch prints: any text is read, without end neither in time nor in depth.
#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/explain_laws.h"

namespace {

// What texts are made of; bytes of the input choose.
// clang-format off
const char* const kFragments[] = {
    "Could not guard on data-dependent expression ",
    "Could not extract specialized integer from data-dependent expression ",
    "The expression we were trying to evaluate is ",
    "Eq(u0, 1)", "u0 > 5", "u0*u1 != 0", "Mod(3*u0, 4) <= 0", "u0//(u1 - 1)",
    " (unhinted: ", ").  (Size-like symbols: ", "u0, u1", "none", ")\n",
    "\n", "\n\n", "[rank0]: ", "(EngineCore pid=7) ", "\x1b[31m", "E   ",
    "ERROR 12-15 12:35:11 [core.py:8] ",
    "V1213 16:58:36.371000 12 torch/fx/a.py:57] [0/0] ",
    "create_env\n", "create_unbacked_symint u0 [-int_oo, int_oo] (a.py:3 in f)\n",
    "create_symbol s0 = 6 for L['x'].size()[0] [2, int_oo] (a.py:3 in f)\n",
    "runtime_assert u0 >= u1 [guard added] (a.py:4 in f)\n",
    "eval Eq(s0, 2*u0) [guard added] (a.py:4 in f)\n",
    "set_replacement u1 = 2*u0 + 1 (solve) VR[1, 9]\n",
    "_update_var_to_range u0 = VR[0, 9] (update)\n",
    "names u0 = y.shape[0] at /m/model.py:9 in forward\n",
    "Data dependent variable 'u0' allocated at:\n",
    "  File \"/m/model.py\", line 10, in forward\n    if n > 5:\n",
    "  File \"/x/site-packages/torch/_refs/__init__.py\", line 9, in f\n    g()\n",
    "from user code:\n", "Traceback (most recent call last):\n",
    "Potential framework code culprit (scroll up for full backtrace):\n",
    "Caused by: (m/model.py:11 in forward)\n",
    "evaluating expression to True.\n",
    "(These suggested fixes were derived by replacing `u0` with n in Eq(u0, 1)"
    " and its negation.)\n",
    "Constraints violated (dx)! For more information\n",
    "  - Not all values of dx = L['x'].size()[0] in the specified range dx <= 9"
    " satisfy the generated guard Eq(Mod(L['x'].size()[0], 2), 0).\n",
    "Suggested fixes:\n", "  dx = 2*_dx\n", "  dx = Dim('dx', max=4)\n",
    "propagate_real_tensors evaluate_expr(u0 > 2) -> False\n",
    "# File: /m/model.py:9 in forward, code: n = m.sum().item()\n",
    "item: \"Sym(u0)\" = torch.ops.aten.item.default(x)\n",
    "PendingUnbackedSymbolNotFound", "Expected cond to be True, but got False",
    "DynamicOutputShapeException: aten.nonzero.default\n", "((((((((((((((((",
    "    def forward(self, x):\n        n = x.item()\n",
    "        torch._check(n <= m)\n", "        if n <= m:\n",
    "---> 12     if n > 5:\n", "     11     torch._check(n > 2)\n",
    "Caused by: if n > 5:  # m.py:9 in forward (_refs/__init__.py:8 in f)\n",
    "failed during evaluate_expr(u0 > 5, hint=None, size_oblivious=False\n",
    "ge: \"Sym(u0 >= 2)\" = item >= 2\n",
    "BackendCompilerFailed: backend='inductor' raised:\n",
    "\xe2\x80\x9c", "\xe2\x80\x98x\xe2\x80\x99", "&gt;", "&amp;lt;", "<br>", "\xc2\xa0",
    "Could not guard on\n", "data-dependent expression ", "#   - ", "...",
    "replacing `u0` with y.shape[0] or n, `u1` with len(x) in Eq(u0, 1)\n",
    "The values of a = L['x'].size()[0] and b = L['y'].size()[0] must always be"
    " equal.\n",
};
// clang-format on
constexpr size_t kCount = sizeof(kFragments) / sizeof(kFragments[0]);

// An even first byte: the text is the bytes; else each byte is a fragment, or
// stands for itself.
std::string text_of(const uint8_t* data, size_t size) {
  if (size == 0 || data[0] % 2 == 0) {
    return std::string(reinterpret_cast<const char*>(data), size);
  }
  std::string text;
  for (size_t i = 1; i < size && text.size() < 20000; ++i) {
    if (data[i] < 4 * kCount) {
      text += kFragments[data[i] % kCount];
    } else {
      text += static_cast<char>(data[i]);
    }
  }
  return text;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size > 4000) return 0;
  const std::string text = text_of(data, size);
  if (auto broken = proviso::fuzz::broken_law(text)) {
    std::fprintf(stderr, "broken law: %s\n  %s\n", broken->c_str(),
                 text.c_str());
    std::abort();
  }
  return 0;
}
