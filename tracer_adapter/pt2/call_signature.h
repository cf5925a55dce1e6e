// tracer_adapter/pt2/call_signature.h - whether a program can be called as its
// module_call_graph says, and gives what that says.
#pragma once

#include <optional>
#include <string>

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// The keys of a dict of Python's or of torch.fx, as a TreeSpec has its type and
// context; nullopt of other types.  `what` names the spec in FileErrors.
std::optional<Json> dict_keys(const std::string& type, const Json& context,
                              const std::string& what);

// `module`: the graph_module of a model.json of the right form.  Throws
// FileError unless its first call is the whole program's, with as many leaves
// as the signature has inputs and results; and unless every module's call has
// specs that can be read, arguments that Python can name, and dicts that Python
// can make.
void check_call_signature(const Json& module);

}  // namespace proviso::inline v0_2::pt2
