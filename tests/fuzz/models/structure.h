// tests/fuzz/models/structure.h - changes that keep a model of the right form
// and break what torch's loader asks of it besides: names that torch makes up,
// the order of outputs, kinds that a signature and its graph agree on, texts
// within texts.
#pragma once

#include "tests/fuzz/models/mutate.h"

namespace proviso::fuzz {

void change_structure(Json& documents, Random& random);

}  // namespace proviso::fuzz
