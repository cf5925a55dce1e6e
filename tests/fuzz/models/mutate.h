// tests/fuzz/models/mutate.h - changes to a program as it stands in a .pt2:
// nodes, arguments, signatures, sub-graphs, expressions, guards, the metadata
// of tensors.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

namespace proviso::fuzz {

using Json = nlohmann::ordered_json;
using Random = std::mt19937_64;

// The records of an archive, without their folder's name.
using Records = std::map<std::string, std::string>;

// What a mutant is made from: the JSON records as one object, by name.
struct Model {
  std::string path;
  Records records;
  Json documents;
};
Model read_model(const std::string& path);
std::string write_model(const Model& model, const Json& documents);

class Mutator {
 public:
  explicit Mutator(const std::vector<Model>& models);

  // Some changes to one of the models, the same for the same seed.
  Json mutant(uint64_t seed, size_t* model) const;

 private:
  struct Site;
  void change(Json& documents, Random& random) const;
  void change_list(Json& list, const std::string& role, Random& random) const;
  void change_object(Json& object, Random& random) const;
  void change_text(Json& text, const std::string& role, Random& random) const;
  void add_node(Json& documents, Random& random) const;
  Json argument(const std::string& type, const std::vector<std::string>& names,
                Random& random) const;

  const std::vector<Model>& models_;
  // What stands under a key anywhere, to be put elsewhere under the same key.
  std::map<std::string, std::vector<Json>> by_role_;
  // Of every operator of PyTorch, and of those that a file may call.
  std::vector<std::string> targets_, allowed_;
};

}  // namespace proviso::fuzz
