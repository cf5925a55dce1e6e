// cli/json.h - the little JSON that the command speaks.
//
//   JsonObject o;
//   o.add("answer", json_text("yes")).add("us", "12.5");
//   o.text();                                // {"answer": "yes", "us": 12.5}
//   Json line = Json::parse(R"({"facts": ["u0 >= 0"]})");
//   line.at("facts").items[0].text;          // u0 >= 0
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace proviso::cli {

std::string json_text(std::string_view text);  // quoted and escaped
std::string json_list(const std::vector<std::string>& texts);

class JsonObject {
 public:
  // `value` is JSON already.
  JsonObject& add(std::string_view key, std::string_view value);
  std::string text() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

struct Json {
  enum class Kind { kNull, kBool, kNumber, kText, kList, kObject };
  Kind kind = Kind::kNull;
  std::string text;  // of a string; the literal of a number or a bool
  std::vector<Json> items;
  std::vector<std::pair<std::string, Json>> members;

  // Throws Error with the column.
  static Json parse(std::string_view text);
  // Throws Error when the member is absent.
  const Json& at(std::string_view key) const;
};

}  // namespace proviso::cli
