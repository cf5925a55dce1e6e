#include "cli/torch_pt2/value_file.h"

#include <ATen/EmptyTensor.h>
#include <ATen/ops/empty.h>
#include <c10/core/CPUAllocator.h>
#include <caffe2/serialize/inline_container.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <deque>
#include <fstream>
#include <map>
#include <optional>

#include "tracer_adapter/ir/graph.h"
#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::cli {
namespace {

using pt2::FileError;

constexpr std::string_view kUntyped = "torch.storage.UntypedStorage";

// The operations of pickle's protocol 2 that torch.save writes.
namespace pickle {
constexpr uint8_t kProto = 0x80, kNewObject = 0x81, kTuple1 = 0x85,
                  kTuple2 = 0x86, kTuple3 = 0x87, kTrue = 0x88, kFalse = 0x89,
                  kLong1 = 0x8a;
}  // namespace pickle

// --- dtypes

bool has_values(c10::ScalarType dtype) {
  return dtype < c10::ScalarType::NumOptions && !c10::isQIntType(dtype) &&
         !c10::isBitsType(dtype);
}

// The one that name_of calls so.
template <typename NameOf>
std::optional<c10::ScalarType> dtype_called(std::string_view name,
                                            const NameOf& name_of) {
  for (int8_t i = 0; i < static_cast<int8_t>(c10::ScalarType::NumOptions); ++i)
    if (const auto dtype = static_cast<c10::ScalarType>(i);
        has_values(dtype) && name_of(dtype) == name)
      return dtype;
  return std::nullopt;
}

std::string storage_name(c10::ScalarType dtype) {
  return std::string("torch.") + c10::toString(dtype) + "Storage";
}

// Storages of others have no type.
bool has_typed_storage(c10::ScalarType dtype) {
  return dtype <= c10::ScalarType::BFloat16 && has_values(dtype) &&
         dtype != c10::ScalarType::ComplexHalf;
}

// --- read

// Short, and of letters, digits and signs: an error may show it.
bool is_name(std::string_view text) {
  constexpr size_t kLongest = 200;
  return !text.empty() && text.size() <= kLongest &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c > ' ' && c < 0x7f; });
}

// What a pickle makes.
struct Item {
  enum class Kind {
    kValue,
    kSequence,  // a list or tuple
    kDict,      // keys and values in turn
    kGlobal,    // a name
    kDtype,
    kStorage,
    kOther,  // what `name` says, which no program takes
  };
  Kind kind = Kind::kValue;
  c10::IValue value{};
  std::string name{};
  std::vector<Item>* items = nullptr;  // the reader's
  c10::Storage storage{};
  std::optional<c10::ScalarType> dtype{};  // or of a storage that has one
};

using Kind = Item::Kind;

Item of_value(c10::IValue value) { return {.value = std::move(value)}; }
Item other(std::string what) {
  return {.kind = Kind::kOther, .name = std::move(what)};
}

class PickleReader {
 public:
  explicit PickleReader(const pt2::ZipReader& zip)
      : zip_(zip), bytes_(zip.record("data.pkl")) {
    if (zip.has("byteorder") &&
        (zip.record("byteorder") == "little") !=
            (std::endian::native == std::endian::little))
      fail("its bytes are in the order of another machine");
  }

  // Its containers live as long as the reader.
  Item read();

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw FileError(zip_.path() + ": " + what +
                    "; write it with torch.save([x, y], path)");
  }
  std::string_view take(size_t count);
  std::string_view line();
  template <typename T>
  T number();
  Item& top();
  Item pop();
  std::vector<Item> to_mark();
  void push(Item item) { stack_.push_back(std::move(item)); }
  void push_items(Kind kind, std::vector<Item> items);
  void push_tuple(size_t count);
  void extend(Kind kind, const std::vector<Item>& items);
  void remember(size_t place) { memo_[place] = top(); }
  void recall(size_t place);
  void step(uint8_t operation);
  void long_number();
  void call();
  Item called(const std::string& function, const std::vector<Item>& args);
  Item tensor(const std::vector<Item>& args, bool with_dtype);
  void set_bits(at::Tensor& t, const Item& metadata) const;
  void storage();
  const Item& of_kind(const Item& item, Kind kind) const;
  const Item& at(const std::vector<Item>& args, size_t i, Kind kind) const;
  int64_t integer(const Item& item) const;
  std::vector<int64_t> sizes(const Item& item) const;

  const pt2::ZipReader& zip_;
  std::string_view bytes_;
  std::vector<Item> stack_;
  std::vector<size_t> marks_;
  std::map<size_t, Item> memo_;
  std::map<std::string, Item> storages_;  // by record
  std::deque<std::vector<Item>> containers_;
};

std::string_view PickleReader::take(size_t count) {
  if (count > bytes_.size()) fail("its pickle ends early");
  const std::string_view taken = bytes_.substr(0, count);
  bytes_.remove_prefix(count);
  return taken;
}

std::string_view PickleReader::line() {
  const size_t end = bytes_.find('\n');
  if (end == std::string_view::npos) fail("its pickle ends early");
  const std::string_view text = take(end);
  take(1);
  return text;
}

template <typename T>
T PickleReader::number() {
  T value{};
  std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
  return value;
}

Item& PickleReader::top() {
  if (stack_.size() <= (marks_.empty() ? 0 : marks_.back()))
    fail("its pickle takes what is not there");
  return stack_.back();
}

Item PickleReader::pop() {
  Item item = std::move(top());
  stack_.pop_back();
  return item;
}

std::vector<Item> PickleReader::to_mark() {
  if (marks_.empty()) fail("its pickle has no mark");
  const auto first = stack_.begin() + static_cast<long>(marks_.back());
  std::vector<Item> items(first, stack_.end());
  stack_.erase(first, stack_.end());
  marks_.pop_back();
  return items;
}

void PickleReader::push_items(Kind kind, std::vector<Item> items) {
  containers_.push_back(std::move(items));
  push({.kind = kind, .items = &containers_.back()});
}

void PickleReader::push_tuple(size_t count) {
  std::vector<Item> items(count);
  for (size_t i = count; i-- > 0;) items[i] = pop();
  push_items(Kind::kSequence, std::move(items));
}

void PickleReader::extend(Kind kind, const std::vector<Item>& items) {
  if (top().kind == Kind::kOther) return;
  if (top().kind != kind) fail("its pickle extends what is no list or dict");
  top().items->insert(top().items->end(), items.begin(), items.end());
}

void PickleReader::recall(size_t place) {
  const auto found = memo_.find(place);
  if (found == memo_.end()) fail("its pickle recalls what it has not kept");
  push(found->second);
}

void PickleReader::long_number() {
  const std::string_view bytes = take(number<uint8_t>());
  if (bytes.size() > sizeof(int64_t))
    return push(other("an integer of more than 64 bits"));
  const bool negative = !bytes.empty() && static_cast<int8_t>(bytes.back()) < 0;
  int64_t value = negative ? -1 : 0;
  std::memcpy(&value, bytes.data(), bytes.size());
  push(of_value(value));
}

const Item& PickleReader::of_kind(const Item& item, Kind kind) const {
  if (item.kind != kind)
    fail("an object in its pickle is made of other things than torch's");
  return item;
}

const Item& PickleReader::at(const std::vector<Item>& args, size_t i,
                             Kind kind) const {
  if (i >= args.size()) fail("an object in its pickle lacks a part");
  return of_kind(args[i], kind);
}

int64_t PickleReader::integer(const Item& item) const {
  if (item.kind != Kind::kValue || !item.value.isInt() ||
      item.value.toInt() < 0)
    fail("a size, stride or offset in its pickle is none");
  return item.value.toInt();
}

std::vector<int64_t> PickleReader::sizes(const Item& item) const {
  std::vector<int64_t> found;
  for (const Item& size : *item.items) found.push_back(integer(size));
  return found;
}

// ('storage', FloatStorage, '0', 'cpu', 6)
void PickleReader::storage() {
  const Item id = pop();
  const std::vector<Item>& parts = *of_kind(id, Kind::kSequence).items;
  const std::string& type = at(parts, 1, Kind::kGlobal).name;
  const c10::IValue& key = at(parts, 2, Kind::kValue).value;
  const c10::IValue& device = at(parts, 3, Kind::kValue).value;
  if (!key.isString() || !device.isString() || !is_name(key.toStringRef()) ||
      !is_name(device.toStringRef()))
    fail("a storage in its pickle has no name");
  if (device.toStringRef() != "cpu")
    fail("it holds a tensor on the device " + device.toStringRef() +
         "; move it to the CPU");
  Item& made = storages_[key.toStringRef()];
  if (!made.storage) {
    const std::string_view bytes = zip_.record("data/" + key.toStringRef());
    made.kind = Kind::kStorage;
    made.storage = c10::Storage(c10::Storage::use_byte_size_t(), bytes.size(),
                                c10::GetCPUAllocator());
    if (!bytes.empty())
      std::memcpy(made.storage.mutable_data(), bytes.data(), bytes.size());
    made.dtype = dtype_called(type, storage_name);
    if (!made.dtype && type != kUntyped) fail("it holds a " + type);
  }
  push(made);
}

void PickleReader::set_bits(at::Tensor& t, const Item& metadata) const {
  for (size_t i = 0; i + 1 < metadata.items->size(); i += 2) {
    const c10::IValue& key = at(*metadata.items, i, Kind::kValue).value;
    const c10::IValue& set = at(*metadata.items, i + 1, Kind::kValue).value;
    if (!key.isString() || !set.isBool() || !set.toBool()) continue;
    if (key.toStringRef() == "conj" && t.is_complex()) t._set_conj(true);
    if (key.toStringRef() == "neg") t._set_neg(true);
  }
}

// (storage, offset, sizes, strides, requires_grad, hooks[, dtype][, metadata])
Item PickleReader::tensor(const std::vector<Item>& args, bool with_dtype) {
  const Item& memory = at(args, 0, Kind::kStorage);
  std::optional<c10::ScalarType> dtype = memory.dtype;
  if (with_dtype) dtype = at(args, 6, Kind::kDtype).dtype;
  if (!dtype) fail("a tensor in its pickle has no dtype");
  const int64_t offset = integer(at(args, 1, Kind::kValue));
  const auto size = sizes(at(args, 2, Kind::kSequence));
  const auto stride = sizes(at(args, 3, Kind::kSequence));
  if (size.size() != stride.size() ||
      at::detail::computeStorageNbytes(size, stride, c10::elementSize(*dtype),
                                       static_cast<size_t>(offset)) >
          memory.storage.nbytes())
    fail("a tensor in its pickle is larger than its storage");
  int64_t elements = 1;  // of strides of 0, more than the storage has
  for (int64_t n : size)
    if (__builtin_mul_overflow(elements, std::max<int64_t>(n, 1), &elements))
      fail("a tensor in its pickle has more elements than 64 bits count");
  at::Tensor t = at::empty({0}, *dtype);
  t.set_(memory.storage, offset, size, stride);
  const size_t metadata = with_dtype ? 7 : 6;
  if (args.size() > metadata) set_bits(t, at(args, metadata, Kind::kDict));
  return of_value(t);
}

Item PickleReader::called(const std::string& function,
                          const std::vector<Item>& args) {
  if (function == "torch._utils._rebuild_tensor_v2") return tensor(args, false);
  if (function == "torch._utils._rebuild_tensor_v3") return tensor(args, true);
  // Of LibTorch's own pickles.
  const bool of_libtorch = function.starts_with("torch.jit._pickle.");
  if ((function == "torch._utils._rebuild_parameter" || of_libtorch) &&
      !args.empty())
    return args[0];
  if (function == "torch.device" && args.size() == 1 &&
      args[0].value.isString())
    return of_value(c10::Device(args[0].value.toStringRef()));
  if (function == "__builtin__.complex" && args.size() == 2 &&
      args[0].value.isDouble() && args[1].value.isDouble())
    return of_value(c10::complex<double>(args[0].value.toDouble(),
                                         args[1].value.toDouble()));
  if (function == "collections.OrderedDict") return other("a dict");
  return other("what " + function + " makes");
}

void PickleReader::call() {
  const Item args = pop(), function = pop();
  push(called(of_kind(function, Kind::kGlobal).name,
              *of_kind(args, Kind::kSequence).items));
}

void PickleReader::step(uint8_t operation) {
  using namespace pickle;
  switch (operation) {
    case kProto: take(1); return;
    case '(': marks_.push_back(stack_.size()); return;
    case ']':
    case ')': return push_items(Kind::kSequence, {});
    case '}': return push_items(Kind::kDict, {});
    case 'a': {
      const Item item = pop();
      return extend(Kind::kSequence, {item});
    }
    case 'e': return extend(Kind::kSequence, to_mark());
    case 's': {
      const Item value = pop(), key = pop();
      return extend(Kind::kDict, {key, value});
    }
    case 'u': return extend(Kind::kDict, to_mark());
    case 't': return push_items(Kind::kSequence, to_mark());
    case kTuple1: return push_tuple(1);
    case kTuple2: return push_tuple(2);
    case kTuple3: return push_tuple(3);
    case 'N': return push({});
    case kTrue: return push(of_value(true));
    case kFalse: return push(of_value(false));
    case 'J': return push(of_value(int64_t{number<int32_t>()}));
    case 'K': return push(of_value(int64_t{number<uint8_t>()}));
    case 'M': return push(of_value(int64_t{number<uint16_t>()}));
    case kLong1: return long_number();
    case 'G':  // the one number that begins with its highest byte
      return push(of_value(
          std::bit_cast<double>(__builtin_bswap64(number<uint64_t>()))));
    case 'X': return push(of_value(std::string(take(number<uint32_t>()))));
    case 'c': {
      const std::string module(line());
      const std::string name = module + "." + std::string(line());
      if (!is_name(name)) fail("a name in its pickle is none");
      const auto dtype = dtype_called(name, python_name);
      return push({.kind = dtype ? Kind::kDtype : Kind::kGlobal,
                   .name = name,
                   .dtype = dtype});
    }
    case 'R': return call();
    case kNewObject: {
      pop();
      const Item type = pop();
      return push(other("a " + type.name));
    }
    case 'b': pop(); return;  // what is set of an object that no program takes
    case 'Q': return storage();
    case 'q': return remember(number<uint8_t>());
    case 'r': return remember(number<uint32_t>());
    case 'h': return recall(number<uint8_t>());
    case 'j': return recall(number<uint32_t>());
    default:
      fail("its pickle has the operation " + std::to_string(operation) +
           ", which torch.save does not write");
  }
}

Item PickleReader::read() {
  for (;;) {
    const auto operation = number<uint8_t>();
    if (operation == '.') return pop();
    step(operation);
  }
}

std::string text_of(const Item& item) {
  switch (item.kind) {
    case Kind::kSequence: return "a list";
    case Kind::kDict: return "a dict";
    case Kind::kStorage: return "a storage";
    default: return item.name;
  }
}

// --- written

class PickleWriter {
 public:
  std::string list_of(const std::vector<c10::IValue>& values);
  // Whose bytes are the records data/0, data/1, ..
  const std::vector<at::Tensor>& storages() const { return storages_; }

 private:
  struct Stored {
    size_t record = 0;
    std::optional<c10::ScalarType> dtype;  // of the storage
  };
  void byte(uint8_t b) { out_ += static_cast<char>(b); }
  template <typename T>
  void bytes(T value) {
    out_.append(reinterpret_cast<const char*>(&value), sizeof(T));
  }
  void global(const std::string& module, const std::string& name) {
    out_ += "c" + module + "\n" + name + "\n";
  }
  void text(const std::string& value);
  void integer(int64_t value);
  void real(double value);
  void tuple(c10::IntArrayRef values);
  void tensor(const at::Tensor& t);
  void value(const c10::IValue& v);
  Stored stored(const at::Tensor& t);

  std::string out_;
  std::vector<at::Tensor> storages_;
  std::map<const c10::StorageImpl*, Stored> places_;
};

void PickleWriter::text(const std::string& value) {
  byte('X');
  bytes(static_cast<uint32_t>(value.size()));
  out_ += value;
}

void PickleWriter::integer(int64_t value) {
  if (value == static_cast<int32_t>(value)) {
    byte('J');
    return bytes(static_cast<int32_t>(value));
  }
  byte(pickle::kLong1);
  byte(sizeof(value));
  bytes(value);
}

void PickleWriter::real(double value) {
  byte('G');
  bytes(__builtin_bswap64(std::bit_cast<uint64_t>(value)));
}

void PickleWriter::tuple(c10::IntArrayRef values) {
  byte('(');
  for (int64_t value : values) integer(value);
  byte('t');
}

PickleWriter::Stored PickleWriter::stored(const at::Tensor& t) {
  const auto [found, is_new] =
      places_.try_emplace(t.storage().unsafeGetStorageImpl());
  if (is_new) {
    found->second.record = storages_.size();
    storages_.push_back(t);
    if (has_typed_storage(t.scalar_type()) &&
        t.storage().nbytes() % t.element_size() == 0)
      found->second.dtype = t.scalar_type();
  }
  return found->second;
}

// A storage has the dtype of its first tensor where such storages have one: a
// tensor of another says its own.
void PickleWriter::tensor(const at::Tensor& t) {
  const Stored place = stored(t);
  const bool plain = place.dtype == t.scalar_type();
  const size_t item = place.dtype ? c10::elementSize(*place.dtype) : 1;
  global("torch._utils", plain ? "_rebuild_tensor_v2" : "_rebuild_tensor_v3");
  out_ += "((";
  text("storage");
  if (place.dtype)
    global("torch", storage_name(*place.dtype).substr(6));
  else
    global("torch.storage", "UntypedStorage");
  text(std::to_string(place.record));
  text("cpu");
  integer(static_cast<int64_t>(t.storage().nbytes() / item));
  out_ += "tQ";
  integer(t.storage_offset());
  tuple(t.sizes());
  tuple(t.strides());
  byte(pickle::kFalse);
  global("collections", "OrderedDict");
  out_ += ")R";
  if (!plain) global("torch", python_name(t.scalar_type()).substr(6));
  out_ += "tR";
}

void PickleWriter::value(const c10::IValue& v) {
  if (v.isTensor()) {
    const at::Tensor& t = v.toTensor();
    TORCH_CHECK(
        t.layout() == c10::kStrided && !t.is_quantized() && t.device().is_cpu(),
        "is ", t.toString(), ", and only plain tensors are written");
    return tensor(t.resolve_conj().resolve_neg());
  }
  if (v.isNone()) return byte('N');
  if (v.isBool()) return byte(v.toBool() ? pickle::kTrue : pickle::kFalse);
  if (v.isInt()) return integer(v.toInt());
  if (v.isDouble()) return real(v.toDouble());
  if (v.isString()) return text(v.toStringRef());
  if (v.isDevice()) {
    global("torch", "device");
    text(v.toDevice().str());
    byte(pickle::kTuple1);
    return byte('R');
  }
  TORCH_CHECK(v.isComplexDouble(), "is a ", v.tagKind(),
              ", which is not written");
  global("__builtin__", "complex");
  real(v.toComplexDouble().real());
  real(v.toComplexDouble().imag());
  byte(pickle::kTuple2);
  byte('R');
}

std::string PickleWriter::list_of(const std::vector<c10::IValue>& values) {
  byte(pickle::kProto);
  byte(2);
  out_ += "](";
  for (size_t i = 0; i < values.size(); ++i) {
    try {
      value(values[i]);
    } catch (const c10::Error& error) {
      TORCH_CHECK(false, "run: output ", i, " ",
                  error.what_without_backtrace());
    }
  }
  out_ += "e.";
  return out_;
}

}  // namespace

std::vector<c10::IValue> read_values(const std::string& path,
                                     const std::vector<std::string>& names) {
  const pt2::ZipReader zip = pt2::ZipReader::open(path);
  PickleReader reader(zip);
  const Item all = reader.read();
  TORCH_CHECK(all.kind == Kind::kSequence, "run: '", path,
              "' holds no list; write it with torch.save([x, y], path)");
  std::vector<c10::IValue> values;
  for (size_t i = 0; i < all.items->size(); ++i) {
    const Item& item = (*all.items)[i];
    const std::string name =
        i < names.size() ? names[i] : "number " + std::to_string(i);
    TORCH_CHECK(item.kind == Kind::kValue, "run: the input ", name, " in '",
                path, "' is ", text_of(item),
                ", which no program takes; give tensors, numbers and texts, "
                "one after another");
    values.push_back(item.value);
  }
  return values;
}

void write_values(const std::string& path,
                  const std::vector<c10::IValue>& values) {
  PickleWriter pickled;
  const std::string list = pickled.list_of(values);
  std::ofstream file(path, std::ios::binary);
  caffe2::serialize::PyTorchStreamWriter zip(
      [&](const void* bytes, size_t count) {
        file.write(static_cast<const char*>(bytes),
                   static_cast<std::streamsize>(count));
        return count;
      });
  zip.writeRecord("data.pkl", list.data(), list.size());
  const std::string order =
      std::endian::native == std::endian::little ? "little" : "big";
  zip.writeRecord("byteorder", order.data(), order.size());
  for (size_t i = 0; i < pickled.storages().size(); ++i) {
    const c10::Storage& storage = pickled.storages()[i].storage();
    zip.writeRecord("data/" + std::to_string(i), storage.data(),
                    storage.nbytes());
  }
  zip.writeEndOfFile();
  TORCH_CHECK(file.flush(), "run: cannot write '", path, "'");
}

}  // namespace proviso::cli
