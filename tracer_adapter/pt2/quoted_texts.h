// tracer_adapter/pt2/quoted_texts.h - texts that torch writes into Python code
// between quotes, as they stand.
//
//   torch._assert(args[0].size()[0] == 3, "Guard failed: d['key'].size() ..")
//   torch._assert(args[1] == 'sum', "Guard failed: reduction == 'sum'")
//   getattr(self.layers, "0")
//
// The keys of a program's inputs, its text inputs and the names of its modules
// are such.  One with a quote would end there, and the rest of it be code.  A
// key stands there as repr writes it, the others as they are.
#pragma once

#include <string>
#include <string_view>

#include "tracer_adapter/pt2/json_reader.h"

namespace proviso::inline v0_2::pt2 {

// No quotes, no backslashes, and nothing that ends a line.
bool stands_in_quotes(std::string_view text);

// Throws FileError; `what`: "a text input", "the name of a module".
void require_quotable(std::string_view what, std::string_view text);

// "'a\\b'" of a\b, as Python writes the key.
std::string quoted_key(std::string_view key);
// What is between the quotes of such a text.  Throws FileError.
void check_quoted_key(std::string_view inner);

// `module`: graph_module of a model.json of the right form.  Looks at the text
// inputs, at the keys of the inputs and at the names in module_call_graph.
// Throws FileError.
void check_quoted_texts(const Json& module);

}  // namespace proviso::inline v0_2::pt2
