#include "tracer_adapter/pt2/guard_places.h"

#include <limits>
#include <utility>

#include "tracer_adapter/ir/printable.h"
#include "tracer_adapter/pt2/guard_names.h"
#include "tracer_adapter/pt2/json_reader.h"
#include "tracer_adapter/pt2/json_writer.h"
#include "tracer_adapter/pt2/model_schema.h"

namespace proviso::inline v0_2::pt2 {
namespace {

constexpr size_t kMostPlaces = 4;  // of a guard; a line of a loop is one

// A guard that was read without its place has its text for one.
std::vector<SourceLocation> places_of(const Guard& guard,
                                      const std::string& text) {
  std::vector<SourceLocation> places;
  for (const SourceLocation& where : guard.origins) {
    if (places.size() == kMostPlaces) break;
    if (where.line > 0 || (!where.code.empty() && where.code != text))
      places.push_back(where);
  }
  return places;
}

SourceLocation read_place(const Json& json) {
  const int64_t line = json.at("line").integer();
  if (line < 0 || line > std::numeric_limits<int>::max())
    throw FileError(std::string(kGuardPlaces) + ": line is " +
                    std::to_string(line) + "; give one of a file, or 0");
  return {escaped(json.at("file").string()), static_cast<int>(line),
          escaped(json.at("code").string())};
}

}  // namespace

GuardPlaces guard_places(const ExportedProgram& program) {
  const std::vector<std::string> texts = guards_for_torch(program);
  GuardPlaces result;
  for (size_t i = 0; i < texts.size(); ++i) {
    auto places = places_of(program.guards()[i], texts[i]);
    if (!places.empty()) result.emplace(texts[i], std::move(places));
  }
  return result;
}

std::string write_guard_places(const GuardPlaces& places) {
  JsonWriter json;
  json.tagged("guards", [&] {
    json.array([&] {
      for (const auto& [guard, origins] : places)
        json.object([&] {
          json.key("guard").string(guard);
          json.key("places").array([&] {
            for (const SourceLocation& where : origins)
              json.object([&] {
                json.key("file").string(where.file);
                json.key("line").integer(where.line);
                json.key("code").string(where.code);
              });
          });
        });
    });
  });
  return json.take();
}

GuardPlaces read_guard_places(std::string_view json) {
  const Json read = parse_json(json, kGuardPlaces);
  check_form(read, "GuardPlaces", kGuardPlaces);
  GuardPlaces result;
  for (const Json& entry : read.at("guards").items()) {
    auto& places = result[entry.at("guard").string()];
    for (const Json& place : entry.at("places").items()) {
      if (places.size() == kMostPlaces) break;
      places.push_back(read_place(place));
    }
  }
  return result;
}

}  // namespace proviso::inline v0_2::pt2
