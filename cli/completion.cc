// `proviso completion bash|zsh`: a script that completes the command's words,
// made from the tables of commands and options.
//
//   source <(proviso completion bash)                      # ~/.bashrc
//   proviso completion zsh > "${fpath[1]}/_proviso"        # once
#include <iostream>
#include <sstream>

#include "cli/arguments.h"
#include "sym/expr.h"

namespace proviso::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words)
    text += (text.empty() ? "" : " ") + word;
  return text;
}

// 'text', as a shell reads it.
std::string quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

// The words that may stand where an operand does; files where there are none.
std::string operands(const Command& command) {
  const std::string text = command.operands;
  if (text == "bash|zsh") return "bash zsh";
  if (text.starts_with("list|run")) return "list run";
  return "";
}
bool takes_files(const Command& command) {
  return std::string_view(command.operands).starts_with("FILE");
}

std::string bash() {
  std::string out =
      "# proviso in bash; made by: proviso completion bash\n"
      "_proviso() {\n"
      "  local word=${COMP_WORDS[COMP_CWORD]} before=\n"
      "  ((COMP_CWORD > 0)) && before=${COMP_WORDS[COMP_CWORD-1]}\n"
      "  local words= files=\n"
      "  if ((COMP_CWORD == 1)); then\n"
      "    COMPREPLY=($(compgen -W '";
  for (const Command& command : kCommands)
    out += std::string(command.name) + " ";
  out +=
      "--help --version' -- \"$word\"))\n"
      "    return\n"
      "  fi\n"
      "  case $before in\n";
  for (const Option& option : all_options()) {
    if (option.value == nullptr) continue;
    out += std::string("    ") + option.name + ") ";
    const std::string value = option.value;
    if (option.words != nullptr) {
      out += "words=" + quoted(joined(option.words()));
    } else if (value == "FILE" || value == "PAGE") {
      out += "files=1";
    } else {
      out += "return";  // something of the user's own
    }
    out += " ;;\n";
  }
  out +=
      "    *)\n"
      "      case ${COMP_WORDS[1]} in\n";
  for (const Command& command : kCommands) {
    out +=
        std::string("        ") + command.name + ") words=" +
        quoted(std::string(command.options) + " --help " + operands(command)) +
        (takes_files(command) ? "; files=1" : "") + " ;;\n";
  }
  return out +
         "      esac ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  if [[ -n $files && $word != -* ]]; then\n"
         "    COMPREPLY+=($(compgen -f -- \"$word\"))\n"
         "  fi\n"
         "  # NAME= is not a whole word.\n"
         "  [[ ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
         "  return 0\n"
         "}\n"
         "complete -F _proviso proviso\n";
}

// In zsh's specifications : and [ ] mean something.
std::string escaped(std::string_view text) {
  std::string out;
  for (char c : text) {
    if (c == ':' || c == '[' || c == ']' || c == '\\') out += '\\';
    out += c;
  }
  return out;
}

std::string zsh_option(const Option& option) {
  const bool repeats = std::string_view(option.help).find("(repeatable)") !=
                       std::string_view::npos;
  std::string row = (repeats ? "*" : "") + std::string(option.name) + "[" +
                    escaped(option.help) + "]";
  if (option.value == nullptr) return row;
  row += ":" + escaped(option.value) + ":";
  if (option.words != nullptr) {
    row += "(" + joined(option.words()) + ")";
  } else if (const std::string value = option.value;
             value == "FILE" || value == "PAGE") {
    row += "_files";
  }
  return row;
}

std::string zsh() {
  std::string out =
      "#compdef proviso\n"
      "# proviso in zsh; made by: proviso completion zsh\n"
      "_proviso() {\n"
      "  if (( CURRENT == 2 )); then\n"
      "    local -a commands=(\n";
  for (const Command& command : kCommands) {
    out += "      " +
           quoted(std::string(command.name) + ":" + escaped(command.summary)) +
           "\n";
  }
  out +=
      "    )\n"
      "    _describe command commands\n"
      "    return\n"
      "  fi\n"
      "  local command=$words[2]\n"
      "  shift words\n"
      "  (( CURRENT-- ))\n"
      "  case $command in\n";
  for (const Command& command : kCommands) {
    out += std::string("    ") + command.name + ")\n      _arguments";
    for (const Option& option : all_options()) {
      if (takes(command, option.name))
        out += " \\\n        " + quoted(zsh_option(option));
    }
    const std::string words = operands(command);
    if (!words.empty()) {
      out += " \\\n        " + quoted("*:word:(" + words + ")");
    } else if (takes_files(command)) {
      out += " \\\n        '*:file:_files'";
    }
    out += " ;;\n";
  }
  return out +
         "  esac\n"
         "}\n"
         "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
         "  _proviso \"$@\"\n"
         "else\n"
         "  compdef _proviso proviso\n"
         "fi\n";
}

}  // namespace

int completion(const Arguments& arguments) {
  const std::string shell =
      arguments.positional.size() == 1 ? arguments.positional[0] : "";
  if (shell != "bash" && shell != "zsh") {
    throw Error(
        "completion: say for which shell: completion bash, or "
        "completion zsh");
  }
  std::cout << (shell == "bash" ? bash() : zsh());
  return kYesOrGood;
}

}  // namespace proviso::cli
