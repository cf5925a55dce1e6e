// tracer_adapter/pt2/program_reader.h - a .pt2 file, ours or PyTorch 2.13's own
// torch.export.save, as an ExportedProgram; without Python.
//
//   LoadedProgram loaded = load_program("model.pt2");
//   loaded.program.to_string();
//   loaded.program.module()({x});
//   loaded.claims;                    // the guards and ranges of the file
//
// The file is verified, not trusted (see ZipReader, Json, GraphReader), and
// calls only operators that AllowedOperators lets it; errors are FileErrors
// that name the file and the place.  Symbols are numbered afresh.
#pragma once

#include <string>
#include <vector>

#include "tracer_adapter/exported_program.h"
#include "tracer_adapter/pt2/allowed_operators.h"
#include "tracer_adapter/pt2/zip_reader.h"

namespace proviso::inline v0_2::pt2 {

// A guard of the file, as it stands there.
struct Claim {
  std::string text;  // L['x'].size()[0] <= 16
  Expr condition;
  std::vector<SourceLocation> places{};  // where its program asked for it
};

struct LoadedProgram {
  ExportedProgram program;
  std::vector<Claim> claims;
  // What the metadata takes for granted of the inputs: the same symbol at two
  // sizes, a size that is an expression of others.
  std::vector<Expr> equations;
  // The ranges of the inputs' symbols: what is checked when the program runs,
  // and as they stand in the file (torch writes a lower end of 2 for every
  // size, and does not check it).
  std::vector<std::pair<Expr, Interval>> ranges, stated;
  std::string torch_version;
};

// Throws FileError unless the archive says of itself what torch's reader asks
// of it: format, versions, examples.
void check_archive(const ZipReader& zip);

// Throws FileError unless the archive's JSON documents, those of them that are
// there, are of the form that PyTorch writes: a reader of them may count on it.
void check_documents(const ZipReader& zip);

LoadedProgram load_program(
    const std::string& path,
    const AllowedOperators& allowed = AllowedOperators());
LoadedProgram read_program(
    const ZipReader& zip, const AllowedOperators& allowed = AllowedOperators());

}  // namespace proviso::inline v0_2::pt2
