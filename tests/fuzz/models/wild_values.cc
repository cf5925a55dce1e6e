// LD_PRELOAD=build/bin/libcanaries.so build/bin/wild_values EACH SEED
//     [--allow=OPERATOR...] [--only=TRIAL] FILE.pt2...
//
// Programs on inputs that no kernel expects, as `proviso run` runs them: each
// FILE.pt2 has its inputs beside it, FILE.pt, and runs EACH times on these with
// some of their numbers changed: integers to others near and far, truth values
// to bytes that are neither, floats to what is no index.  Whatever they are, an
// error says so, or it works.
//
// tests/python/wild_values.py makes such programs.  Trials run in processes of
// their own; after a finding the file's other trials are left.
#include <torch/csrc/jit/serialization/pickle.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <iostream>
#include <iterator>
#include <limits>

#include "tests/fuzz/contained.h"
#include "tests/fuzz/models/pick.h"
#include "tracer_adapter/pt2/program_reader.h"
#include "tracer_adapter/rerun/retrace.h"
#include "tracer_adapter/run/checked_calls.h"
#include "tracer_adapter/trace/error_text.h"

namespace proviso::fuzz {
namespace {

struct Counts : Progress {
  std::atomic<uint64_t> unread{0}, ran{0}, refused{0};
  std::atomic<size_t> left{0};  // the file whose other trials are left, plus 1
};

struct Options {
  uint64_t each = 0, seed = 0;
  std::optional<uint64_t> only;
  pt2::AllowedOperators allowed;
  std::vector<std::string> files;
};

// --- values

int64_t any_integer(const std::vector<int64_t>& sizes, Random& random) {
  const int64_t sign = below(random, 2) == 0 ? 1 : -1;
  switch (below(random, 8)) {
    case 0: return std::numeric_limits<int64_t>::min();
    case 1: return std::numeric_limits<int64_t>::max();
    case 2: return sign * (int64_t{1} << below(random, 63));
    case 3: return static_cast<int64_t>(random() >> 23) - (int64_t{1} << 40);
    case 4: return sign * static_cast<int64_t>(below(random, 100));
    case 5:
    case 6:  // as a rule allowed
      return static_cast<int64_t>(
          below(random, static_cast<size_t>(any_of(sizes, random)) + 1));
    default:
      return sign * any_of(sizes, random) +
             static_cast<int64_t>(below(random, 3)) - 1;
  }
}

double any_float(const std::vector<int64_t>& sizes, Random& random) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double sign = below(random, 2) == 0 ? 1 : -1;
  switch (below(random, 5)) {
    case 0: return std::nan("");
    case 1: return sign * infinity;
    case 2: return std::ldexp(sign, static_cast<int>(below(random, 280)) - 140);
    case 3: return 0 * sign;
    default: return static_cast<double>(any_integer(sizes, random));
  }
}

// Integers of a narrower type are the end that is nearer, or the low bits.
int64_t fitted(int64_t value, at::ScalarType type, Random& random) {
  const int bits = static_cast<int>(8 * elementSize(type));
  if (bits == 64 || below(random, 2) == 0) return value;
  const int64_t most = (int64_t{1} << (bits - 1)) - 1;
  return type == at::kByte ? std::clamp<int64_t>(value, 0, 255)
                           : std::clamp(value, -most - 1, most);
}

void set(const at::Tensor& flat, int64_t i, const std::vector<int64_t>& sizes,
         Random& random) {
  const at::Tensor place = flat.select(0, i);
  const at::ScalarType type = flat.scalar_type();
  // Past the range of the type, fill_() would throw.
  if (type == at::kBool)
    place.view(at::kByte).fill_(static_cast<int64_t>(below(random, 256)));
  else if (place.is_floating_point() || place.is_complex())
    place.copy_(at::scalar_tensor(any_float(sizes, random), at::kDouble));
  else
    place.copy_(at::scalar_tensor(
        fitted(any_integer(sizes, random), type, random), at::kLong));
}

// Sizes that an index may be compared with.
std::vector<int64_t> sizes_in(const std::vector<at::Tensor>& inputs) {
  std::vector<int64_t> sizes = {1};
  for (const at::Tensor& t : inputs) {
    sizes.push_back(t.numel());
    sizes.insert(sizes.end(), t.sizes().begin(), t.sizes().end());
  }
  return sizes;
}

// All numbers of all tensors, some of them, all of one tensor, some, or one.
void change(const std::vector<at::Tensor>& tensors,
            const std::vector<int64_t>& sizes, Random& random) {
  const size_t how = below(random, 5), one = below(random, tensors.size());
  for (size_t k = 0; k < tensors.size(); ++k) {
    if (how > 1 && k != one) continue;
    const auto count = static_cast<size_t>(tensors[k].numel());
    const size_t step = how == 4       ? count
                        : how % 2 == 0 ? 1
                                       : 1 + below(random, count);
    for (size_t i = below(random, step); i < count; i += step)
      set(tensors[k], static_cast<int64_t>(i), sizes, random);
  }
}

// Integers change in all trials, what is no integer in one of four.
std::vector<at::Tensor> changed(const std::vector<at::Tensor>& inputs,
                                Random& random) {
  std::vector<at::Tensor> copies, integers, others;
  for (const at::Tensor& t : inputs) {
    copies.push_back(t.clone(at::MemoryFormat::Contiguous));
    const bool is_integer =
        at::isIntegralType(t.scalar_type(), /*includeBool=*/false);
    if (t.numel() > 0)
      (is_integer ? integers : others).push_back(copies.back().view(-1));
  }
  if (integers.empty() || below(random, 4) == 0)
    integers.insert(integers.end(), others.begin(), others.end());
  if (!integers.empty()) change(integers, sizes_in(inputs), random);
  // With the strides that they had.
  for (size_t i = 0; i < inputs.size(); ++i)
    copies[i] = inputs[i].clone().copy_(copies[i]);
  return copies;
}

// --- programs

struct Given {
  ExportedProgram program;
  std::vector<at::Tensor> inputs;
};

Given read(const std::string& path, const pt2::AllowedOperators& allowed) {
  std::ifstream file(path.substr(0, path.size() - 1), std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)), {});
  TORCH_CHECK(!bytes.empty(), path, ": no inputs beside it");
  const c10::IValue list = torch::jit::pickle_load(bytes);
  std::vector<at::Tensor> inputs;
  for (const c10::IValue& value : list.toListRef())
    inputs.push_back(value.toTensor());
  return {pt2::load_program(path, allowed).program, inputs};
}

class Trials {
 public:
  Trials(const Options& options, Counts& progress)
      : options_(options), progress_(progress) {}

  void one(uint64_t trial);

 private:
  bool has(size_t file);  // its program, in given_
  void run(const std::vector<c10::IValue>& inputs) const;

  const Options& options_;
  Counts& progress_;
  size_t file_ = SIZE_MAX;  // of given_
  std::optional<Given> given_;
};

bool Trials::has(size_t file) {
  if (file == file_) return given_.has_value();
  file_ = file;
  given_.reset();
  try {
    given_ = read(options_.files[file], options_.allowed);
  } catch (const std::exception& error) {
    std::printf("not read: %s\n", error_text(error).substr(0, 300).c_str());
    ++progress_.unread;
  }
  return given_.has_value();
}

void Trials::run(const std::vector<c10::IValue>& inputs) const {
  const Module module = given_->program.module();
  module.check(inputs);
  const Trial trial = try_inputs(given_->program, inputs);
  TORCH_CHECK(trial.kind != Trial::Kind::kRefused, trial.why);
  const CheckedCalls checked(options_.allowed);
  module.run(inputs);
}

void Trials::one(uint64_t trial) {
  const size_t file = trial / options_.each;
  progress_.seed = trial;
  progress_.stage = options_.files[file].c_str();
  if (progress_.left == file + 1) return;
  progress_.left = file + 1;  // unless it comes through
  if (has(file)) {
    Random random(options_.seed * 1'000'003 + trial);
    // The first of all is as it was.
    std::vector<at::Tensor> tensors;
    if (trial % options_.each == 0)
      for (const at::Tensor& t : given_->inputs) tensors.push_back(t.clone());
    else
      tensors = changed(given_->inputs, random);
    if (options_.only)
      for (const at::Tensor& t : tensors) std::cout << t << "\n";
    try {
      run({tensors.begin(), tensors.end()});
      ++progress_.ran;
      if (options_.only) std::printf("ran\n");
    } catch (const std::exception& error) {
      ++progress_.refused;
      if (options_.only || trial % options_.each == 0)
        std::printf("%s: %s\n", progress_.stage.load(),
                    error_text(error).substr(0, 300).c_str());
    }
    progress_.left = 0;
  }
}

int main(const Options& options) {
  auto& progress = shared<Counts>();
  Trials trials(options, progress);
  if (options.only)
    trials.one(*options.only);
  else
    run_contained(progress, 0, options.files.size() * options.each,
                  [&](uint64_t trial) { trials.one(trial); });
  std::printf("%zu files, %lu not read; %lu runs, %lu refused, %lu findings\n",
              options.files.size(), progress.unread.load(), progress.ran.load(),
              progress.refused.load(), progress.findings.load());
  return progress.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace proviso::fuzz

int main(int argc, char** argv) {
  constexpr std::string_view kAllow = "--allow=", kOnly = "--only=";
  proviso::fuzz::Options options;
  std::vector<std::string> allowed;
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (i == 1)
      options.each = std::stoull(word);
    else if (i == 2)
      options.seed = std::stoull(word);
    else if (word.starts_with(kAllow))
      allowed.push_back(word.substr(kAllow.size()));
    else if (word.starts_with(kOnly))
      options.only = std::stoull(word.substr(kOnly.size()));
    else
      options.files.push_back(word);
  }
  if (options.files.empty() || options.each == 0) {
    std::fprintf(stderr,
                 "usage: wild_values EACH SEED [--allow=OPERATOR...] "
                 "[--only=TRIAL] FILE.pt2...\n");
    return 2;
  }
  options.allowed = proviso::pt2::AllowedOperators(allowed);
  return proviso::fuzz::main(options);
}
