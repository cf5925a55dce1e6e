#include "tracer_adapter/pt2/program_reader.h"

#include <ATen/ops/empty.h>
#include <caffe2/serialize/versions.h>
#include <torch/csrc/export/pt2_archive_constants.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <sstream>

#include "sym/print.h"
#include "tracer_adapter/ir/owned_tensors.h"
#include "tracer_adapter/pt2/attribute_names.h"
#include "tracer_adapter/pt2/call_signature.h"
#include "tracer_adapter/pt2/graph_reader.h"
#include "tracer_adapter/pt2/guard_names.h"
#include "tracer_adapter/pt2/guard_places.h"
#include "tracer_adapter/pt2/loader_check.h"
#include "tracer_adapter/pt2/model_schema.h"
#include "tracer_adapter/pt2/quoted_texts.h"
#include "tracer_adapter/pt2/signature_check.h"
#include "tracer_adapter/trace/error_text.h"
#include "tracer_adapter/trace/sources.h"

namespace proviso::inline v0_2::pt2 {
namespace {

namespace spec = torch::_export::archive_spec;
constexpr int kReadableMajor = 8;
constexpr const char* kModel = "models/model.json";
constexpr const char* kWeightsIndex = "model_weights_config.json";
constexpr const char* kConstantsIndex = "model_constants_config.json";
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

// --- tensors

int64_t plain(const Json& json) { return json.at("as_int").integer(); }

std::vector<int64_t> plain_list(const Json& json, const char* what) {
  std::vector<int64_t> values;
  for (const Json& item : json.items()) {
    values.push_back(plain(item));
    if (values.back() < 0) throw FileError("negative " + std::string(what));
  }
  return values;
}

// The number of elements from the first of the record to the last in use.
int64_t extent(const std::vector<int64_t>& sizes,
               const std::vector<int64_t>& strides, int64_t offset) {
  int64_t end = offset;
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == 0) return 0;
    int64_t span = 0;
    if (__builtin_mul_overflow(sizes[d] - 1, strides[d], &span) ||
        __builtin_add_overflow(end, span, &end))
      throw FileError("sizes and strides overflow 64 bits");
  }
  int64_t numel = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(numel, size, &numel))
      throw FileError("the product of its sizes overflows 64 bits");
  if (end == INT64_MAX) throw FileError("sizes and strides overflow 64 bits");
  return end + 1;
}

// What names the tensors of a folder.
Json read_payload_index(const ZipReader& zip, const std::string& record) {
  Json json = parse_json(zip.record(record), record);
  check_form(json, "PayloadConfig", record);
  return json;
}

class TensorReader {
 public:
  // `prefix`: of the names of records that torch takes for tensors.
  TensorReader(const ZipReader& zip, std::string folder, std::string prefix)
      : zip_(zip), folder_(std::move(folder)), prefix_(std::move(prefix)) {}

  // `parameters`: takes the names of those that are.
  NamedTensors read(const std::string& index,
                    std::set<std::string>* parameters) {
    NamedTensors tensors;
    const Json json = read_payload_index(zip_, folder_ + index);
    for (const auto& [name, entry] : json.at("config").members()) {
      try {
        tensors.emplace_back(name, tensor(entry));
        if (entry.at("is_param").boolean()) parameters->insert(name);
      } catch (const FileError& error) {
        throw FileError("tensor '" + name + "': " + error.what());
      }
    }
    return tensors;
  }

 private:
  // The elements of a record.
  at::Tensor base_of(const std::string& record, c10::ScalarType dtype) {
    const std::string_view bytes = zip_.record(folder_ + record);
    const size_t item = c10::elementSize(dtype);
    if (bytes.size() % item != 0)
      throw FileError("record '" + record + "' has " +
                      std::to_string(bytes.size()) + " bytes, no multiple of " +
                      std::to_string(item) + ", the size of a " +
                      c10::toString(dtype));
    at::Tensor& base = bases_[record];
    if (!base.defined()) {
      base = at::empty({static_cast<int64_t>(bytes.size() / item)}, dtype);
      std::memcpy(base.data_ptr(), bytes.data(), bytes.size());
    }
    // torch takes the bytes for what the first of its tensors is.
    if (base.scalar_type() != dtype)
      throw FileError("it is of " + std::string(c10::toString(dtype)) +
                      ", and record '" + record + "' is of " +
                      c10::toString(base.scalar_type()) +
                      " for another tensor; tensors of one record are of one "
                      "dtype");
    return base;
  }

  at::Tensor tensor(const Json& entry) {
    if (entry.at("use_pickle").boolean())
      throw FileError("it is pickled; only plain tensors can be read");
    const Json& meta = entry.at("tensor_meta");
    if (const c10::Device device = read_device(meta.at("device"));
        !device.is_cpu())
      throw FileError("it is on the device " + device.str() +
                      "; move the program's tensors to the CPU before it is "
                      "exported");
    read_strided(meta.at("layout"));
    const auto dtype = read_dtype(meta.at("dtype"));
    const auto sizes = plain_list(meta.at("sizes"), "size");
    const auto strides = plain_list(meta.at("strides"), "stride");
    const int64_t offset = plain(meta.at("storage_offset"));
    if (sizes.size() != strides.size() || offset < 0)
      throw FileError("its sizes, strides and offset do not fit together");
    const std::string& record = entry.at("path_name").string();
    if (!record.starts_with(prefix_))
      throw FileError("record '" + record + "' is no '" + prefix_ +
                      "...', as those of its tensors are called");
    const at::Tensor base = base_of(record, dtype);
    const int64_t have = base.numel();
    if (extent(sizes, strides, offset) > have)
      throw FileError("record '" + record + "' holds " + std::to_string(have) +
                      " elements, fewer than its sizes and strides claim");
    at::Tensor result = base.as_strided(sizes, strides, offset);
    const bool differentiable =
        result.is_floating_point() || result.is_complex();
    if (meta.at("requires_grad").boolean() && !differentiable)
      throw FileError(std::string("it is of ") + c10::toString(dtype) +
                      ", and cannot require a gradient");
    if (meta.at("requires_grad").boolean() && !entry.at("is_param").boolean())
      throw FileError("it is no parameter, and is said to require a gradient");
    if (meta.at("requires_grad").boolean())
      result = result.detach().requires_grad_();
    return result;
  }

  const ZipReader& zip_;
  std::string folder_, prefix_;
  std::map<std::string, at::Tensor> bases_;  // by record
};

// --- where inputs come from: L['x']['k'][0]

void add_sources(const Json& spec, const std::string& source,
                 std::vector<std::string>* out) {
  const Json* type = spec.find("type");
  const Json::Items& children = spec.at("children_spec").items();
  if (type == nullptr) {
    out->push_back(source);
    return;
  }
  std::vector<std::string> keys;
  if (const Json* text = spec.find("context"); text && text->is_string()) {
    try {
      const Json context = parse_json(text->string(), "context");
      const Json* names = &context;
      // transformers' DynamicCache: [[keys], ...]
      if (names->is_array() && !names->items().empty() &&
          names->items()[0].is_array())
        names = &names->items()[0];
      if (names->is_array() && names->items().size() == children.size())
        for (const Json& key : names->items())
          keys.push_back(key.is_string() ? quoted_key(key.string())
                         : key.is_int()  ? std::to_string(key.integer())
                                         : "");
    } catch (const FileError&) {
      keys.clear();  // a context of its own kind: children count
    }
  }
  for (size_t i = 0; i < children.size(); ++i)
    add_sources(
        children[i],
        source + "[" +
            (keys.empty() || keys[i].empty() ? std::to_string(i) : keys[i]) +
            "]",
        out);
}

std::vector<std::string> sources_of(const TreeSpecs& specs) {
  const Json pair = parse_json(specs.in_spec, "in_spec");
  const Json::Items& top = pair.items()[1].at("children_spec").items();
  std::vector<std::string> out;
  const Json::Items& args = top[0].at("children_spec").items();
  for (size_t i = 0; i < args.size(); ++i)
    add_sources(args[i],
                "L['" +
                    (i < specs.argument_names.size() ? specs.argument_names[i]
                                                     : std::to_string(i)) +
                    "']",
                &out);
  add_sources(top[1], "L", &out);
  return out;
}

TreeSpecs read_specs(const Json& module) {
  TreeSpecs specs;
  const Json& signature =
      module.at("module_call_graph").items()[0].at("signature");
  specs.in_spec = signature.at("in_spec").string();
  specs.out_spec = signature.at("out_spec").string();
  if (const Json* names = signature.find("forward_arg_names"))
    for (const Json& name : names->items())
      specs.argument_names.push_back(name.string());
  return specs;
}

// --- the program

// u12, zuf3
bool is_unbacked_name(std::string_view name) {
  name.remove_prefix(name.starts_with('u') ? 1 : 3);
  return !name.empty() && name.size() < 8 &&
         name.find_first_not_of("0123456789") == std::string_view::npos;
}

class ProgramReader {
 public:
  ProgramReader(const ZipReader& zip, const AllowedOperators& allowed)
      : zip_(zip),
        allowed_(allowed),
        json_(parse_json(zip.record(kModel), kModel)) {}

  void check_document();
  LoadedProgram read();

 private:
  void check_version();
  std::map<std::string, ForeignRange> ranges() const;
  void bind_inputs(ForeignSymbols& symbols,
                   const std::vector<std::string>& sources);
  void bind_tensor(ForeignSymbols& symbols, const Json& meta,
                   const std::string& source);
  void read_inputs(GraphReader& reader,
                   const std::vector<std::string>& sources);
  void read_input(GraphReader& reader, const Json& spec,
                  InputSpec& input) const;
  void read_owned(const std::string& kind, const Json& body,
                  InputSpec& input) const;
  void check_place(const InputSpec& input) const;
  void read_outputs(const GraphReader& reader);
  std::set<std::string> input_tokens() const;
  std::vector<const Json*> specs_but_tokens(const GraphReader& reader,
                                            const std::string& of,
                                            size_t count) const;
  void check_mutation(const OutputSpec& output) const;
  void check_calls(const GraphReader& reader) const;
  void read_claims(ForeignSymbols& symbols);
  const Json& graph() const { return module().at("graph"); }
  const Json& module() const { return json_.at("graph_module"); }
  const Json& signature() const { return module().at("signature"); }

  const ZipReader& zip_;
  const AllowedOperators& allowed_;
  Json json_;
  LoadedProgram loaded_;
  std::set<std::string> parameters_;   // among the weights
  std::optional<OwnedTensors> owned_;  // when they were read
};

void ProgramReader::check_document() {
  check_form(json_, "VersionedProgram", kModel);
  check_version();
  check_form(json_, "ExportedProgram", kModel);
}

void ProgramReader::check_version() {
  const int64_t major = json_.at("schema_version").at("major").integer();
  if (major != kReadableMajor)
    throw FileError("schema " + std::to_string(major) +
                    " cannot be read, only " + std::to_string(kReadableMajor) +
                    "; export with PyTorch 2.13");
  if (const Json* version = json_.find("torch_version"))
    loaded_.torch_version = version->string();
  if (const Json* verifiers = json_.find("verifiers"))
    for (const Json& dialect : verifiers->items())
      if (const std::string& name = dialect.string();
          name != "TRAINING" && name != "ATEN" && !name.empty())
        throw FileError("the dialect '" + name.substr(0, 100) +
                        "' is not known; TRAINING and ATEN are");
}

std::map<std::string, ForeignRange> ProgramReader::ranges() const {
  std::map<std::string, ForeignRange> result;
  for (const auto& [name, json] : json_.at("range_constraints").members()) {
    if ((name.starts_with('u') || name.starts_with("zuf")) &&
        !is_unbacked_name(name))
      throw FileError("'" + name.substr(0, 100) + "' is no symbol");
    ForeignRange range;
    if (const Json* min = json.find("min_val"); min && min->is_int())
      range.min = min->integer();
    if (const Json* max = json.find("max_val"); max && max->is_int())
      range.max = max->integer();
    if (range.min && range.max && *range.min > *range.max)
      throw FileError("the range of " + name + " is empty");
    result[name] = range;
  }
  return result;
}

std::optional<int64_t> hint_of(const Json& as_expr) {
  const Json* hint = as_expr.find("hint");
  if (hint == nullptr) return std::nullopt;
  const auto& [tag, value] = hint->tagged();
  if (tag != "as_int") return std::nullopt;
  return value.integer();
}

void ProgramReader::bind_tensor(ForeignSymbols& symbols, const Json& meta,
                                const std::string& source) {
  const Json::Items& sizes = meta.at("sizes").items();
  for (size_t d = 0; d < sizes.size(); ++d) {
    const auto& [tag, size] = sizes[d].tagged();
    const std::string dim = size_source(source, d);
    if (tag == "as_int")
      symbols.add_constant(dim, size.integer());
    else
      symbols.add_input(dim, size.at("expr_str").string(), hint_of(size));
  }
}

void ProgramReader::bind_inputs(ForeignSymbols& symbols,
                                const std::vector<std::string>& sources) {
  size_t user = 0;
  for (const Json& spec : signature().at("input_specs").items()) {
    const auto& [kind, body] = spec.tagged();
    if (kind != "user_input" && kind != "constant_input") continue;
    const std::string& source = sources[user++];
    if (kind == "constant_input") continue;
    const auto& [tag, arg] = body.at("arg").tagged();
    if (tag == "as_tensor") {
      bind_tensor(symbols,
                  graph().at("tensor_values").at(arg.at("name").string()),
                  source);
    } else if (tag == "as_sym_int" && arg.tagged().first == "as_name") {
      const auto& [number, value] =
          graph().at("sym_int_values").at(arg.at("as_name").string()).tagged();
      if (number == "as_expr")
        symbols.add_input(source, value.at("expr_str").string(), hint_of(value),
                          false);
      else  // the program takes this one alone
        symbols.add_constant(source, value.integer(), false);
    }
  }
  symbols.bind();
}

std::string meta_text(c10::ScalarType dtype, const std::string& sizes) {
  return std::string(short_name(dtype)) + sizes;
}

// The tensor that the file holds is the one that the graph was made for.
void check_owned(const InputSpec& input, const GraphValue& value,
                 const at::Tensor& tensor) {
  if (!value.is_tensor())
    throw FileError("'" + input.target + "' must be a tensor");
  const TensorMeta& meta = value.tensor();
  std::string sizes;
  bool same = meta.dtype == tensor.scalar_type() &&
              meta.sizes.size() == static_cast<size_t>(tensor.dim());
  for (size_t d = 0; d < meta.sizes.size(); ++d) {
    sizes += (d == 0 ? "" : ", ") + to_string(meta.sizes[d]);
    same = same && meta.sizes[d].maybe_int64() == tensor.size(d);
  }
  if (same) return;
  std::ostringstream stored;
  stored << tensor.sizes();
  throw FileError("the tensor '" + input.target + "' is " +
                  meta_text(tensor.scalar_type(), stored.str()) +
                  ", the graph says " +
                  meta_text(meta.dtype, "[" + sizes + "]"));
}

// A parameter is one among the weights (a buffer may be one, too), and a
// constant is among the constants.
void ProgramReader::check_place(const InputSpec& input) const {
  const bool in_state = owned_->in_state(input.target);
  const bool in_constants = owned_->in_constants(input.target);
  const bool is_parameter = in_state && parameters_.contains(input.target);
  const auto refuse = [&](const std::string& why) {
    throw FileError("the signature calls '" + input.target + "' a " + why);
  };
  if (!in_state && !in_constants)
    throw FileError("there is no tensor '" + input.target + "' in the file");
  if (input.kind == InputKind::kParameter && !is_parameter)
    refuse("parameter; the file's weights have no parameter of that name");
  if (input.kind == InputKind::kBuffer && !*input.persistent && in_state)
    refuse("buffer that is not persistent; it is among the file's weights");
  if (input.kind == InputKind::kBuffer && *input.persistent && !in_state)
    refuse("buffer that is persistent; it is not among the file's weights");
  if (input.kind == InputKind::kConstantTensor && !in_constants)
    refuse("constant; it is not among the file's constants");
  if (in_state && in_constants)
    throw FileError("the name '" + input.target +
                    "' is of one of the file's weights and of one of its "
                    "constants; each tensor has a name of its own");
}

void ProgramReader::read_owned(const std::string& kind, const Json& body,
                               InputSpec& input) const {
  static const std::map<std::string, std::pair<InputKind, const char*>> kOwned =
      {{"parameter", {InputKind::kParameter, "parameter_name"}},
       {"buffer", {InputKind::kBuffer, "buffer_name"}},
       {"tensor_constant",
        {InputKind::kConstantTensor, "tensor_constant_name"}}};
  const auto owned = kOwned.find(kind);
  if (owned == kOwned.end())
    throw FileError("inputs of the kind '" + kind + "' cannot be read");
  input.kind = owned->second.first;
  input.target = body.at(owned->second.second).string();
  if (input.kind == InputKind::kBuffer)
    input.persistent = body.at("persistent").boolean();
  check_place(input);
  const ExportedProgram& program = loaded_.program;
  check_owned(input, program.graph.value(input.arg.get<ValueRef>()->id),
              owned_->of(input));
}

void ProgramReader::read_input(GraphReader& reader, const Json& spec,
                               InputSpec& input) const {
  const auto& [kind, body] = spec.tagged();
  if (kind == "constant_input") {
    input.name = body.at("name").string();
    input.arg = reader.argument(body.at("value"));
  } else if (kind != "user_input") {
    read_owned(kind, body, input);
  }
}

std::set<std::string> ProgramReader::input_tokens() const {
  std::set<std::string> tokens;
  for (const Json& spec : signature().at("input_specs").items())
    if (const auto& [kind, body] = spec.tagged(); kind == "token")
      tokens.insert(body.at("arg").at("name").string());
  return tokens;
}

// What the signature says of the graph's inputs or outputs, `count` of them.
std::vector<const Json*> ProgramReader::specs_but_tokens(
    const GraphReader& reader, const std::string& of, size_t count) const {
  std::vector<const Json*> specs;
  for (const Json& spec : signature().at(of + "_specs").items()) {
    const auto& [kind, body] = spec.tagged();
    if (kind != "token") {
      specs.push_back(&spec);
    } else if (const std::string& name = body.at("arg").at("name").string();
               !reader.is_token(name)) {
      throw FileError("the signature calls the " + of + " '" +
                      name.substr(0, 100) + "' a token, which it is not");
    }
  }
  if (specs.size() != count)
    throw FileError("the signature has " + std::to_string(specs.size()) + " " +
                    of + "s but tokens, the graph " + std::to_string(count));
  return specs;
}

void ProgramReader::read_inputs(GraphReader& reader,
                                const std::vector<std::string>& sources) {
  std::vector<InputSpec>& inputs = loaded_.program.graph.inputs;
  const auto specs = specs_but_tokens(reader, "input", inputs.size());
  size_t user = 0;
  for (size_t i = 0; i < specs.size(); ++i) {
    try {
      read_input(reader, *specs[i], inputs[i]);
    } catch (const Error& error) {
      throw FileError("input " + std::to_string(i) + ": " + error.what());
    }
    if (inputs[i].kind == InputKind::kUserInput)
      inputs[i].source = sources.at(user++);
  }
}

// Outputs that are no results: new values of inputs, of a functional program.
void ProgramReader::read_outputs(const GraphReader& reader) {
  static const std::map<std::string, std::pair<OutputKind, const char*>>
      kMutations = {
          {"buffer_mutation", {OutputKind::kBufferMutation, "buffer_name"}},
          {"parameter_mutation",
           {OutputKind::kParameterMutation, "parameter_name"}},
          {"user_input_mutation",
           {OutputKind::kUserInputMutation, "user_input_name"}}};
  std::vector<OutputSpec>& outputs = loaded_.program.graph.outputs;
  const auto specs = specs_but_tokens(reader, "output", outputs.size());
  for (size_t i = 0; i < specs.size(); ++i) {
    const auto& [kind, body] = specs[i]->tagged();
    if (kind == "user_output") continue;
    const auto found = kMutations.find(kind);
    if (found == kMutations.end())
      throw FileError("outputs of the kind '" + kind + "' cannot be read");
    outputs[i].kind = found->second.first;
    outputs[i].target = body.at(found->second.second).string();
    check_mutation(outputs[i]);
  }
}

// A tensor that becomes the new value of a tensor that is there, and like it.
void ProgramReader::check_mutation(const OutputSpec& output) const {
  const Graph& graph = loaded_.program.graph;
  const auto tensor_of = [&](const Argument& a) -> const TensorMeta* {
    const ValueRef* ref = a.get<ValueRef>();
    return ref != nullptr && graph.value(ref->id).is_tensor()
               ? &graph.value(ref->id).tensor()
               : nullptr;
  };
  const InputKind kind =
      output.kind == OutputKind::kUserInputMutation ? InputKind::kUserInput
      : output.kind == OutputKind::kBufferMutation  ? InputKind::kBuffer
                                                    : InputKind::kParameter;
  const bool user = kind == InputKind::kUserInput;
  const TensorMeta *before = nullptr, *after = tensor_of(output.arg);
  for (const InputSpec& input : graph.inputs)
    if (input.kind == kind &&
        (user ? input.name : input.target) == output.target)
      if (const TensorMeta* tensor = tensor_of(input.arg)) before = tensor;
  const char* shown_kind = user                         ? "input"
                           : kind == InputKind::kBuffer ? "buffer"
                                                        : "parameter";
  const std::string what =
      "an output is the new value of '" + output.target + "', and ";
  if (before == nullptr || after == nullptr)
    throw FileError(what + "the program has no " + shown_kind +
                    " of that name that is a tensor");
  const auto shown = [](const TensorMeta& meta) {
    return meta_text(meta.dtype, "") + " of " +
           std::to_string(meta.sizes.size()) + " dimensions";
  };
  if (before->dtype != after->dtype ||
      before->sizes.size() != after->sizes.size())
    throw FileError(what + "is " + shown(*after) + " where that is " +
                    shown(*before));
}

void check_call_argument(const GraphReader& reader, const Json& json) {
  const auto& [tag, body] = json.tagged();
  const bool number = tag == "as_sym_int" || tag == "as_sym_float";
  if (tag == "as_graph" || (number && body.tagged().first != "as_name"))
    throw FileError("module_call_graph has a value of the kind '" + tag +
                    "' that is none of the graph");
  reader.argument(json);  // throws when it is not there
}

// What modules are said to take and give is in the graph.
void ProgramReader::check_calls(const GraphReader& reader) const {
  for (const Json& entry : module().at("module_call_graph").items()) {
    const Json* call = entry.find("signature");
    if (call == nullptr) continue;
    for (const char* which : {"inputs", "outputs"})
      for (const Json& value : call->at(which).items())
        check_call_argument(reader, value);
  }
}

void ProgramReader::read_claims(ForeignSymbols& symbols) {
  const Json* code = json_.find("guards_code");
  if (code == nullptr) return;
  GuardPlaces places;
  if (zip_.has(kGuardPlaces))
    places = read_guard_places(zip_.record(kGuardPlaces));
  for (const Json& line : code->items()) {
    Claim claim{line.string(), {}};
    if (const auto found = places.find(claim.text); found != places.end())
      claim.places = found->second;
    check_guard(claim.text);
    claim.condition = symbols.guard(claim.text);
    loaded_.claims.push_back(std::move(claim));
  }
}

LoadedProgram ProgramReader::read() {
  check_document();
  check_call_signature(module());
  check_attribute_names(signature(), graph());
  check_quoted_texts(module());
  ExportedProgram& program = loaded_.program;
  ShapeEnvOptions options;
  options.specialize_zero_one = false;
  options.assume_at_least_two = false;
  program.env = std::make_shared<ShapeEnv>(options);
  program.specs = read_specs(module());
  const std::vector<std::string> sources = sources_of(program.specs);
  ForeignSymbols symbols(*program.env, ranges());
  bind_inputs(symbols, sources);
  loaded_.equations = symbols.equations();
  loaded_.ranges = symbols.declared();
  loaded_.stated = symbols.stated();

  GraphReader reader(symbols, allowed_);
  program.graph = reader.read(graph(), false, input_tokens());
  if (const Json* one = graph().find("is_single_tensor_return");
      one != nullptr && one->boolean())
    throw FileError("is_single_tensor_return is for sub-graphs alone");
  check_signature(signature(), graph());
  check_for_loader(json_);
  check_calls(reader);
  program.state_dict = TensorReader(zip_, std::string(spec::WEIGHTS_DIR),
                                    std::string(spec::WEIGHT_FILENAME_PREFIX))
                           .read(kWeightsIndex, &parameters_);
  std::set<std::string> none;
  program.constants =
      TensorReader(zip_, std::string(spec::CONSTANTS_DIR),
                   std::string(spec::TENSOR_CONSTANT_FILENAME_PREFIX))
          .read(kConstantsIndex, &none);
  owned_.emplace(program);
  read_inputs(reader, sources);
  read_outputs(reader);
  read_claims(symbols);
  for (const Claim& claim : loaded_.claims) {
    try {
      program.env->require(claim.condition, claim.places.empty()
                                                ? SourceLocation{}
                                                : claim.places[0]);
    } catch (const Error& error) {
      throw FileError("the guard '" + claim.text +
                      "' fails for the program's own example: " + error.what());
    }
  }
  program.set_guards(program.env->minimal_guards());
  std::set<std::string> seen;
  for (const InputDim& dim : program.env->input_dims())
    if (dim.expr.is_symbol() && seen.insert(dim.expr.symbol().name).second)
      program.range_constraints.push_back(
          {dim.expr, program.env->enforced_range(dim.expr)});
  return std::move(loaded_);
}

std::string_view without_line_end(std::string_view text) {
  while (text.ends_with('\n')) text.remove_suffix(1);
  return text;
}

}  // namespace

void check_archive(const ZipReader& zip) {
  const auto says = [&](const char* name, std::string_view value) {
    const std::string_view text = zip.record(name);
    if (text != value)
      throw FileError(std::string(name) + " is '" +
                      std::string(text.substr(0, 20)) + "', not '" +
                      std::string(value) + "'");
  };
  says("archive_format", spec::ARCHIVE_FORMAT_VALUE);
  says("archive_version", spec::ARCHIVE_VERSION_VALUE);
  const char* name = zip.has(".data/version") ? ".data/version" : "version";
  const std::string_view text = without_line_end(zip.record(name));
  uint64_t version = 0;
  const auto [end, error] =
      std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || end != text.data() + text.size() ||
      version < caffe2::serialize::kMinSupportedFileFormatVersion ||
      version > caffe2::serialize::kMaxSupportedFileFormatVersion)
    throw FileError(std::string(name) + " is '" +
                    std::string(text.substr(0, 20)) +
                    "', which is no version of an archive that is known");
  zip.record("data/sample_inputs/model.pt");  // throws where there is none
  // torch would read these in place of the tensors that are checked.
  for (const auto& folder : {spec::WEIGHTS_DIR, spec::CONSTANTS_DIR})
    if (const std::string old = std::string(folder) + "model.pt"; zip.has(old))
      throw FileError(old +
                      " holds tensors as older versions of PyTorch wrote them; "
                      "load the program where you trust it, and save it again "
                      "with PyTorch 2.13's torch.export.save");
}

namespace {

// What `read` gives; its errors name the archive, and say so much of it as
// fits.
template <typename Read>
auto named(const ZipReader& zip, const Read& read) {
  try {
    return read();
  } catch (const std::exception& error) {
    const std::string what = error_text(error);
    constexpr size_t kLongest = 1500;
    const std::string text =
        what.size() <= kLongest ? what : what.substr(0, kLongest) + "...";
    throw FileError(text.starts_with(zip.path()) ? text
                                                 : zip.path() + ": " + text);
  }
}

}  // namespace

void check_documents(const ZipReader& zip) {
  named(zip, [&] {
    for (const std::string& index :
         {std::string(spec::WEIGHTS_DIR) + kWeightsIndex,
          std::string(spec::CONSTANTS_DIR) + kConstantsIndex})
      if (zip.has(index)) read_payload_index(zip, index);
    ProgramReader(zip, AllowedOperators()).check_document();
  });
}

LoadedProgram read_program(const ZipReader& zip,
                           const AllowedOperators& allowed) {
  return named(zip, [&] {
    check_archive(zip);
    return ProgramReader(zip, allowed).read();
  });
}

LoadedProgram load_program(const std::string& path,
                           const AllowedOperators& allowed) {
  return read_program(ZipReader::open(path), allowed);
}

}  // namespace proviso::inline v0_2::pt2
