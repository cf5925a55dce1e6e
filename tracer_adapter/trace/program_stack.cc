#include "tracer_adapter/trace/program_stack.h"

#include <elf.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <torch/csrc/profiler/unwind/unwind.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

namespace proviso::inline v0_2::internal {
namespace {

constexpr size_t kMostFrames = 64;

// Whether the file is an object with lines of sources.
bool has_lines(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  auto read = [&](uint64_t at, void* to, size_t size) {
    in.seekg(static_cast<std::streamoff>(at));
    in.read(static_cast<char*>(to), static_cast<std::streamsize>(size));
    return in.good();
  };
  Elf64_Ehdr head{};
  if (!read(0, &head, sizeof(head)) ||
      std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
      head.e_ident[EI_CLASS] != ELFCLASS64 ||
      head.e_shentsize != sizeof(Elf64_Shdr)) {
    return false;
  }
  auto section = [&](size_t i) {
    Elf64_Shdr s{};
    read(head.e_shoff + i * sizeof(s), &s, sizeof(s));
    return s;
  };
  const uint64_t names = section(head.e_shstrndx).sh_offset;
  constexpr char kWanted[] = ".debug_line";  // not .debug_line_str
  for (size_t i = 0; i < head.e_shnum; ++i) {
    char name[sizeof(kWanted)];
    if (read(names + section(i).sh_name, name, sizeof(name)) &&
        std::memcmp(name, kWanted, sizeof(name)) == 0) {
      return true;
    }
  }
  return false;
}

// A process of addr2line over one library.
class LineReader {
 public:
  explicit LineReader(const std::string& path) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", 1,
                                     0);
    std::string words[] = {"addr2line", "-aifC", "-e", path};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(),
                         words[3].data(), nullptr};
    const int failed = posix_spawnp(&process_, arguments[0], &actions, nullptr,
                                    arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    if (failed != 0) {
      close(ends[0]);
      return;
    }
    socket_ = ends[0];
  }
  LineReader(const LineReader&) = delete;
  LineReader& operator=(const LineReader&) = delete;
  ~LineReader() { stop(); }

  // What was inlined into the instruction at this offset, innermost first.
  std::vector<Frame> frames_at(uint64_t offset) {
    char question[64];
    // The second address is nowhere: its answer ends that of the first.
    const int size =
        std::snprintf(question, sizeof(question), "0x%llx\n%s\n",
                      static_cast<unsigned long long>(offset), kNowhere);
    std::vector<Frame> frames;
    if (!send_all({question, static_cast<size_t>(size)}) || !line()) return {};
    for (auto first = line(); first && *first != kNowhere; first = line()) {
      const auto place = line();
      if (!place) return frames;
      add(*first, *place, frames);
    }
    line(), line();
    return frames;
  }

 private:
  static constexpr const char* kNowhere = "0xffffffffffffffff";

  static void add(const std::string& function, const std::string& place,
                  std::vector<Frame>& frames) {
    const size_t colon = place.rfind(':');
    int number = 0;
    if (colon == std::string::npos) return;
    std::from_chars(place.data() + colon + 1, place.data() + place.size(),
                    number);
    if (number > 0) {
      frames.push_back({place.substr(0, colon), number, function, ""});
    }
  }

  void stop() {
    if (socket_ < 0) return;
    close(socket_);
    socket_ = -1;
    waitpid(process_, nullptr, 0);
  }

  bool send_all(std::string_view text) {
    while (socket_ >= 0 && !text.empty()) {
      const ssize_t sent =
          send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
      if (sent <= 0) {
        stop();
      } else {
        text.remove_prefix(static_cast<size_t>(sent));
      }
    }
    return socket_ >= 0;
  }

  std::optional<std::string> line() {
    for (;;) {
      const size_t end = received_.find('\n');
      if (end != std::string::npos) {
        std::string text = received_.substr(0, end);
        received_.erase(0, end + 1);
        return text;
      }
      char part[4096];
      const ssize_t got =
          socket_ < 0 ? 0 : recv(socket_, part, sizeof(part), 0);
      if (got <= 0) {
        stop();
        return std::nullopt;
      }
      received_.append(part, static_cast<size_t>(got));
    }
  }

  pid_t process_ = 0;
  int socket_ = -1;
  std::string received_;
};

// Text before the arguments: "my::Model::operator()" of
// "my::Model::operator()(at::Tensor) const".
std::string_view name_of(std::string_view function) {
  size_t end = function.rfind(')');
  for (int depth = 0; end != std::string_view::npos && end > 0; --end) {
    if (function[end] == ')') ++depth;
    if (function[end] == '(' && --depth == 0) break;
  }
  return end == std::string_view::npos || end == 0 ? function
                                                   : function.substr(0, end);
}

// Whether a function is of a library below the program.
bool is_below(std::string_view function) {
  const std::string_view name = function.substr(0, function.find('('));
  auto has = [&](std::string_view part) {
    return name.starts_with(part) ||
           name.find(" " + std::string(part)) != std::string_view::npos;
  };
  return has("at::") || has("c10::") || has("torch::") || has("std::") ||
         has("__gnu_cxx::") || has("proviso::v0_2::");
}

std::string source_line(const std::string& file, int number) {
  std::ifstream in(file);
  std::string text;
  for (int i = 0; i < number; ++i) {
    if (!std::getline(in, text)) return "";
  }
  const size_t begin = text.find_first_not_of(" \t");
  return begin == std::string::npos ? "" : text.substr(begin);
}

class ProgramLines {
 public:
  // Of the program's functions at this return address, innermost first.
  const std::vector<Frame>& at(void* address) {
    const auto [place, is_new] = frames_.try_emplace(address);
    if (is_new) place->second = look_up(address);
    return place->second;
  }

  std::mutex mutex;

 private:
  std::vector<Frame> look_up(void* address) {
    const auto where = torch::unwind::libraryFor(address);
    if (!where) return {};
    std::unique_ptr<LineReader>* reader = reader_of(where->first);
    if (reader == nullptr) return {};
    std::vector<Frame> frames = (*reader)->frames_at(where->second - 1);
    std::erase_if(frames, [](const Frame& f) { return is_below(f.function); });
    for (Frame& f : frames) {
      const std::string name(name_of(f.function));
      const size_t scope = name.rfind("::");
      f.function = scope == std::string::npos ? name : name.substr(scope + 2);
      f.code = source_line(f.file, f.line);
    }
    return frames;
  }

  std::unique_ptr<LineReader>* reader_of(const std::string& library) {
    const auto [place, is_new] = readers_.try_emplace(library);
    if (is_new && has_lines(library)) {
      place->second = std::make_unique<LineReader>(library);
    }
    return place->second ? &place->second : nullptr;
  }

  std::unordered_map<void*, std::vector<Frame>> frames_;
  std::unordered_map<std::string, std::unique_ptr<LineReader>> readers_;
};

}  // namespace

std::vector<Frame> program_stack() {
  static ProgramLines* lines = new ProgramLines;  // for as long as the process
  std::vector<Frame> frames;
  try {
    const std::vector<void*> addresses = torch::unwind::unwind();
    const std::lock_guard<std::mutex> alone(lines->mutex);
    for (void* address : addresses) {
      const std::vector<Frame>& here = lines->at(address);
      frames.insert(frames.end(), here.begin(), here.end());
      if (frames.size() >= kMostFrames) break;
    }
  } catch (const std::exception&) {
    return {};  // a stack that cannot be read has no lines
  }
  std::reverse(frames.begin(), frames.end());
  return frames;
}

}  // namespace proviso::inline v0_2::internal
