// Laws of reading a .pt2 file's outer layers: the zip and the JSON are read or
// refused with an Error, whatever the bytes; what is read lies in the file.  An
// input is read as it stands and as damage done to a good archive.
#include <cstdio>
#include <cstdlib>
#include <string>

#include "guards/shape_env.h"
#include "tracer_adapter/pt2/foreign_symbols.h"
#include "tracer_adapter/pt2/json_reader.h"
#include "tracer_adapter/pt2/zip_reader.h"

namespace {

using namespace proviso;

void number(std::string& out, uint64_t value, size_t width) {
  for (size_t i = 0; i < width; ++i, value >>= 8)
    out += static_cast<char>(value & 0xff);
}

// One stored record, "p/r"; the crc of "{}" is known.
std::string archive() {
  const std::string name = "p/r", body = "{}";
  const auto common = [&](std::string& out) {
    number(out, 0, 2);           // flags
    number(out, 0, 2);           // stored
    number(out, 0, 4);           // time
    number(out, 0xa3a6bf43, 4);  // crc
    number(out, body.size(), 4);
    number(out, body.size(), 4);
    number(out, name.size(), 2);
    number(out, 0, 2);  // extra
  };
  std::string out = "PK\3\4";
  number(out, 20, 2);
  common(out);
  out += name + body;
  const size_t directory = out.size();
  out += "PK\1\2";
  number(out, 20, 2);
  number(out, 20, 2);
  common(out);
  number(out, 0, 2);
  number(out, 0, 8);
  number(out, 0, 4);  // the header's place
  out += name;
  const size_t end = out.size();
  out += "PK\5\6";
  number(out, 0, 4);
  number(out, 1, 2);
  number(out, 1, 2);
  number(out, end - directory, 4);
  number(out, directory, 4);
  number(out, 0, 2);
  return out;
}

void check(bool holds, const char* law) {
  if (holds) return;
  std::fprintf(stderr, "broken law: %s\n", law);
  std::abort();
}

bool reads(const std::string& bytes) {
  try {
    const pt2::ZipReader zip(bytes, "fuzz.pt2");
    if (zip.has("r"))
      check(zip.record("r").size() <= bytes.size(), "records lie in the file");
    return zip.has("r");
  } catch (const Error&) {
    return false;
  }
}

void read_json(const std::string& text) {
  try {
    const pt2::Json json = pt2::parse_json(text, "fuzz", {.depth = 50});
    if (json.is_object()) json.at("graph");
  } catch (const Error&) {
  }
}

void read_symbols(const std::string& text) {
  ShapeEnv env;
  pt2::ForeignSymbols symbols(env, {{"s9", {2, 64}}});
  symbols.add_input("L['x'].size()[0]", "Symbol('s9', integer=True)", 4);
  symbols.bind();
  try {
    symbols.value_of_node(text);
    symbols.guard(text);
  } catch (const Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const std::string kGood = archive();
  static const bool kReads = reads(kGood);
  check(kReads, "a good archive is read");
  const std::string input(reinterpret_cast<const char*>(data), size);
  reads(input);
  read_json(input);
  read_json("{\"graph\": [" + input);
  if (size <= 200) read_symbols(input);
  std::string damaged = kGood;
  for (size_t i = 0; i + 1 < size; i += 2)
    damaged[data[i] % damaged.size()] ^= static_cast<char>(data[i + 1]);
  reads(damaged);
  reads(damaged.substr(0, size % (damaged.size() + 1)));
  return 0;
}
