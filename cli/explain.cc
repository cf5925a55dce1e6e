// explain: errors of PyTorch about shapes, from a log or a traceback.
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>

#include "cli/arguments.h"
#include "guards/errors/diagnosis_html.h"
#include "guards/errors/diagnosis_text.h"
#include "sym/expr.h"

namespace proviso::cli {
namespace {
using namespace internal;

std::string read_whole(const std::string& path) {
  std::ostringstream text;
  if (path == "-") {
    text << std::cin.rdbuf();
    return text.str();
  }
  std::ifstream in(path, std::ios::binary);
  if (!in || (in.peek() != EOF && !(text << in.rdbuf()))) {
    throw Error("explain: cannot read '" + path +
                "'; give a file, or - for the standard input");
  }
  return text.str();
}

void write_page(const std::string& path, const std::string& page) {
  std::ofstream out(path, std::ios::binary);
  if (out << page && out.flush()) return;
  throw Error("explain: cannot write '" + path + "'; give --html a file");
}

bool wants_colour() {
  const char* no = std::getenv("NO_COLOR");
  return isatty(STDOUT_FILENO) && (no == nullptr || *no == '\0');
}

}  // namespace

int explain(const Arguments& arguments) {
  if (arguments.positional.size() != 1) {
    throw Error(
        "explain: expected one file, or - for the standard input; got " +
        std::to_string(arguments.positional.size()));
  }
  const ErrorText text = read_errors(read_whole(arguments.positional[0]));
  const std::vector<Diagnosis> errors = diagnose(text);
  std::cout << to_text(errors, wants_colour());
  if (errors.empty() && text.unread == 0) {
    std::cout << "no error about shapes in " << text.lines << " lines\n";
  }
  const std::string note = unread_note(text);
  if (!note.empty()) std::cout << note << "\n";
  if (!arguments.html.empty()) write_page(arguments.html, to_html(errors));
  if (arguments.json) std::cout << to_json(errors) << "\n";
  return kYesOrGood;
}

}  // namespace proviso::cli
