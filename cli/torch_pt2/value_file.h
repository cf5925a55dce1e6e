// cli/torch_pt2/value_file.h - the values that a program is run on and gives,
// in files of torch.save's and torch.load's.
//
//   write_values("in.pt", {at::ones(3), int64_t{4}});
//   std::vector<c10::IValue> values = read_values("in.pt", {"x", "n"});
//
// Reads what torch.save([x, n], path) writes: tensors of every dtype, numbers,
// texts, None and devices, in a list or tuple.  Tensors that share memory do so
// again.  Writes a list that torch.load reads with its default,
// weights_only=True.  LibTorch's own pickle_load and pickle_save know neither
// the newer dtypes nor integers of more than 32 bits.
#pragma once

#include <ATen/core/ivalue.h>

#include <string>
#include <vector>

namespace proviso::cli {

// `names` are what errors call the values.
std::vector<c10::IValue> read_values(const std::string& path,
                                     const std::vector<std::string>& names);
void write_values(const std::string& path,
                  const std::vector<c10::IValue>& values);

}  // namespace proviso::cli
