// tracer_adapter/pt2/call_signature.h - whether a program can be called as its
// module_call_graph says, and gives what that says.
#pragma once

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// `module`: the graph_module of a model.json of the right form.  Throws
// FileError unless its first call is the whole program's, with as many leaves
// as the signature has inputs and results; and unless every module's call has
// specs that can be read, arguments that Python can name, and dicts that Python
// can make.
void check_call_signature(const Json& module);

}  // namespace proviso::inline v0_2::pt2
