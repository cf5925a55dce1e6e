// tracer_adapter/pt2/json_writer.h - JSON text, written front to back.
//
//   JsonWriter json;
//   json.object([&] {
//     json.key("name").string("x");
//     json.key("sizes").array([&] { json.integer(3); });
//   });
//   json.take();  // {"name": "x", "sizes": [3]}
//
// Commas are its business; matching brackets follow from the nesting of calls.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace proviso::inline v0_2::pt2 {

class JsonWriter {
 public:
  template <typename Body>
  void object(const Body& body) {
    open('{');
    body();
    close('}');
  }
  template <typename Body>
  void array(const Body& body) {
    open('[');
    body();
    close(']');
  }
  // {"tag": <body>}, as the schema writes its unions.
  template <typename Body>
  void tagged(std::string_view tag, const Body& body) {
    object([&] {
      key(tag);
      body();
    });
  }

  JsonWriter& key(std::string_view name);
  void string(std::string_view text);
  void integer(int64_t value);
  // Infinities and NaN are the strings that torch's reader knows.
  void number(double value);
  void boolean(bool value);
  void null();

  const std::string& text() const { return text_; }
  std::string take() { return std::move(text_); }

 private:
  void open(char bracket);
  void close(char bracket);
  void raw(std::string_view value);
  void quote(std::string_view text);
  void separate();

  std::string text_;
  bool first_ = true;  // nothing in this bracket yet
  bool after_key_ = false;
};

}  // namespace proviso::inline v0_2::pt2
