#include "tracer_adapter/pt2/archive.h"

#include <c10/util/Exception.h>
#include <caffe2/serialize/inline_container.h>
#include <torch/csrc/export/pt2_archive_constants.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <map>
#include <set>

#include "tracer_adapter/pt2/attribute_names.h"
#include "tracer_adapter/pt2/guard_places.h"
#include "tracer_adapter/pt2/json_reader.h"
#include "tracer_adapter/pt2/model_json.h"
#include "tracer_adapter/pt2/quoted_texts.h"
#include "tracer_adapter/trace/plain_tensor.h"

namespace proviso::inline v0_2::pt2 {
namespace {

namespace spec = torch::_export::archive_spec;
using caffe2::serialize::PyTorchStreamWriter;
using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

void put(PyTorchStreamWriter& out, std::string_view name,
         std::string_view bytes) {
  out.writeRecord(std::string(name), bytes.data(), bytes.size());
}

// The run of elements of a storage that its tensors use.  Tensors of one
// storage and dtype share a record, so that tied weights stay tied.
struct Extent {
  int64_t begin = 0;
  int64_t end = 0;
  std::string record;
};
using ExtentKey = std::pair<const c10::StorageImpl*, at::ScalarType>;

ExtentKey key_of(const at::Tensor& t) {
  return {t.storage().unsafeGetStorageImpl(), t.scalar_type()};
}

Extent extent_of(const at::Tensor& t) {
  Extent extent{
      .begin = t.storage_offset(), .end = t.storage_offset(), .record = {}};
  if (t.numel() == 0) return extent;
  ++extent.end;
  for (int64_t d = 0; d < t.dim(); ++d)
    extent.end += (t.size(d) - 1) * t.stride(d);
  return extent;
}

// What the file can hold of a tensor: dense bytes in host memory.
at::Tensor storable(const std::string& name, const at::Tensor& tensor) {
  TORCH_CHECK(tensor.layout() == at::kStrided && !tensor.is_quantized(),
              "ExportedProgram::save: tensor '", name, "' is ",
              tensor.is_quantized() ? "quantized" : "not strided",
              "; only strided tensors can be written");
  TORCH_CHECK(!tensor.is_meta(), "ExportedProgram::save: tensor '", name,
              "' is on the meta device and has no data to write");
  require_memory("save: tensor '" + name + "'", tensor);
  return tensor.detach().resolve_conj().resolve_neg().cpu();
}

class Payload {
 public:
  Payload(PyTorchStreamWriter& out, const ExportedProgram& program)
      : out_(out) {
    for (const InputSpec& spec : program.graph.inputs)
      if (spec.kind == InputKind::kParameter) parameters_.insert(spec.target);
  }

  void write(const NamedTensors& tensors, std::string_view folder,
             std::string_view prefix, const std::string& index);

 private:
  PyTorchStreamWriter& out_;
  std::set<std::string> parameters_;
};

void Payload::write(const NamedTensors& tensors, std::string_view folder,
                    std::string_view prefix, const std::string& index) {
  std::map<ExtentKey, Extent> extents;
  NamedTensors stored;
  for (const auto& [name, tensor] : tensors) {
    const at::Tensor t = storable(name, tensor);
    stored.emplace_back(name, t);
    const Extent own = extent_of(t);
    auto [at, fresh] = extents.emplace(key_of(t), own);
    if (fresh) continue;
    at->second.begin = std::min(at->second.begin, own.begin);
    at->second.end = std::max(at->second.end, own.end);
  }

  JsonWriter json;
  int64_t count = 0;
  json.tagged("config", [&] {
    json.object([&] {
      for (size_t i = 0; i < stored.size(); ++i) {
        const std::string& name = stored[i].first;
        const at::Tensor& t = stored[i].second;
        Extent& extent = extents.at(key_of(t));
        if (extent.record.empty()) {
          extent.record = std::string(prefix) + std::to_string(count++);
          const auto* base = static_cast<const char*>(t.storage().data());
          const auto item = static_cast<int64_t>(t.itemsize());
          const size_t size = (extent.end - extent.begin) * item;
          put(out_, std::string(folder) + extent.record,
              size ? std::string_view(base + extent.begin * item, size)
                   : std::string_view(""));
        }
        const bool parameter = parameters_.contains(name);
        json.key(name).object([&] {
          json.key("path_name").string(extent.record);
          json.key("is_param").boolean(parameter);
          json.key("use_pickle").boolean(false);
          json.key("tensor_meta");
          write_tensor_meta(json, t, t.storage_offset() - extent.begin,
                            parameter && tensors[i].second.requires_grad());
        });
      }
    });
  });
  put(out_, index, json.text());
}

// What no loader reads is not written.
void require_readable(const std::string& model) {
  try {
    const Json json = parse_json(model, "models/model.json");
    const Json& module = json.at("graph_module");
    check_attribute_names(module.at("signature"), module.at("graph"));
    check_quoted_texts(module);
  } catch (const FileError& error) {
    TORCH_CHECK_VALUE(false, "ExportedProgram::save: ", error.what(),
                      "; rename it in the model, for torch.export.load does "
                      "not read it");
  }
}

void write_records(PyTorchStreamWriter& out, const ExportedProgram& program) {
  put(out, spec::ARCHIVE_FORMAT_PATH, spec::ARCHIVE_FORMAT_VALUE);
  put(out, spec::ARCHIVE_VERSION_PATH, spec::ARCHIVE_VERSION_VALUE);
  put(out, "byteorder", "little");
  Payload payload(out, program);
  const std::string weights(spec::WEIGHTS_DIR);
  const std::string constants(spec::CONSTANTS_DIR);
  payload.write(program.state_dict, weights, spec::WEIGHT_FILENAME_PREFIX,
                weights + "model_weights_config.json");
  payload.write(program.constants, constants,
                spec::TENSOR_CONSTANT_FILENAME_PREFIX,
                constants + "model_constants_config.json");
  put(out, std::string(spec::SAMPLE_INPUTS_DIR) + "model.pt",
      program.sample_inputs);
  const std::string model = model_json(program);
  require_readable(model);
  put(out, std::string(spec::MODELS_DIR) + "model.json", model);
  if (const GuardPlaces places = guard_places(program); !places.empty())
    put(out, kGuardPlaces, write_guard_places(places));
  out.writeEndOfFile();
}

// A file that appears under its name only when complete.
class PendingFile {
 public:
  explicit PendingFile(std::string path)
      : path_(std::move(path)),
        pending_(path_ + ".part" + std::to_string(::getpid())),
        file_(std::fopen(pending_.c_str(), "wb")) {
    if (!file_) fail("the directory must exist and be writable");
  }
  ~PendingFile() {
    if (file_) std::fclose(file_);
    if (!done_) std::remove(pending_.c_str());
  }
  PendingFile(const PendingFile&) = delete;
  PendingFile& operator=(const PendingFile&) = delete;

  size_t append(const void* data, size_t size) {
    const size_t written = std::fwrite(data, 1, size, file_);
    if (written != size) fail("is the disk full?");
    return written;
  }
  void commit() {
    const bool closed = std::fclose(file_) == 0;
    file_ = nullptr;
    if (!closed) fail("is the disk full?");
    if (std::rename(pending_.c_str(), path_.c_str()) != 0)
      fail("give the path of a file");
    done_ = true;
  }

 private:
  [[noreturn]] void fail(const char* remedy) {
    const char* reason = std::strerror(errno);
    TORCH_CHECK(false, "ExportedProgram::save: cannot write '", path_,
                "': ", reason, "; ", remedy);
  }

  std::string path_;
  std::string pending_;
  std::FILE* file_;
  bool done_ = false;
};

}  // namespace

void write_archive(const ExportedProgram& program, const std::string& path) {
  TORCH_CHECK(!path.empty(),
              "ExportedProgram::save: the path is empty; give "
              "the path of the .pt2 file to write");
  PendingFile file(path);
  {
    PyTorchStreamWriter out(
        [&](const void* data, size_t size) { return file.append(data, size); });
    write_records(out, program);
  }
  file.commit();
}

}  // namespace proviso::inline v0_2::pt2

namespace proviso::inline v0_2 {

void ExportedProgram::save(const std::string& path) const {
  pt2::write_archive(*this, path);
}

}  // namespace proviso::inline v0_2
