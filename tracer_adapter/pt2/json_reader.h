// tracer_adapter/pt2/json_reader.h - JSON text to values, within limits.
//
//   Json model = parse_json(text, "models/model.json");
//   model.at("graph_module").at("graph").at("nodes").items().size();
//
// Every access says what it expected: "models/model.json: there is no 'graph'
// among: inputs, outputs".  The text is JSON by RFC 8259, in UTF-8, with
// Python's NaN and Infinity for numbers; no object has a key twice, and no
// string half of a surrogate pair.  Depth and the number of values are bounded,
// so memory is in proportion to the text.  Knows no torch type.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::inline v0_2::pt2 {

struct JsonLimits {
  size_t depth = 200;
  size_t values = 20'000'000;
};

// A value that is not of the type that was asked for.
class WrongType : public FileError {
 public:
  using FileError::FileError;
};

class Json {
 public:
  using Items = std::vector<Json>;
  using Members = std::vector<std::pair<std::string, Json>>;

  bool is_null() const { return value_.index() == 0; }
  bool is_bool() const { return value_.index() == 1; }
  bool is_int() const { return value_.index() == 2; }
  bool is_string() const { return value_.index() == 4; }
  bool is_array() const { return value_.index() == 5; }
  bool is_object() const { return value_.index() == 6; }

  // Throw WrongType when the value is something else.
  bool boolean() const { return get<bool>("true or false"); }
  int64_t integer() const { return get<int64_t>("an integer"); }
  double number() const;  // also "Infinity", "-Infinity", "NaN"
  const std::string& string() const { return get<std::string>("a string"); }
  const Items& items() const { return get<Items>("a list"); }
  const Members& members() const { return object().members; }

  // nullptr when there is no such key.
  const Json* member(std::string_view key) const;
  // The same where null stands there.
  const Json* find(std::string_view key) const;
  const Json& at(std::string_view key) const;
  // The one member of a union: {"as_int": 3}.
  const std::pair<std::string, Json>& tagged() const;
  // Members in the same order.
  bool operator==(const Json& other) const;

 private:
  friend class JsonParser;
  struct Object {
    Members members;
    std::vector<uint32_t> by_key;  // indices, sorted
  };
  const Object& object() const {
    return *get<std::shared_ptr<const Object>>("an object");
  }
  template <typename T>
  const T& get(const char* expected) const {
    if (const T* value = std::get_if<T>(&value_)) return *value;
    wrong(expected);
  }
  [[noreturn]] void wrong(const char* expected) const;

  std::variant<std::monostate, bool, int64_t, double, std::string, Items,
               std::shared_ptr<const Object>>
      value_;
};

// `where` begins every error.
Json parse_json(std::string_view text, const std::string& where,
                const JsonLimits& limits = {});

}  // namespace proviso::inline v0_2::pt2
