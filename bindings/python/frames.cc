// The Python call stack as source locations.  Runs once an operator, so that a
// stack seen before costs a walk over its frames and one look-up.
#include <c10/util/hash.h>

#include <string_view>
#include <unordered_map>
#include <vector>

#include "bindings/python/bindings.h"

namespace proviso::python {
namespace {

enum class Origin { kUser, kTorch, kProviso, kRoot };

// Never destroyed: code objects and the interpreter outlive us or not, at exit
// nobody can tell.
struct Folders {
  std::string torch, proviso;
};
Folders& folders() {
  static auto* folders = new Folders;
  return *folders;
}

// Code objects are kept alive by this table, so that their addresses name them.
std::unordered_map<PyCodeObject*, Origin>& origins() {
  static auto* origins = new std::unordered_map<PyCodeObject*, Origin>;
  return *origins;
}

using Place = std::pair<PyCodeObject*, int>;  // code and instruction
struct PlaceHash {
  size_t operator()(const Place& place) const {
    return c10::hash_combine(std::hash<PyCodeObject*>()(place.first),
                             std::hash<int>()(place.second));
  }
};

struct PlacesHash {
  size_t operator()(const std::vector<Place>& places) const {
    size_t hash = 0;
    for (const Place& p : places)
      hash = c10::hash_combine(hash, PlaceHash()(p));
    return hash;
  }
};

thread_local std::unordered_map<std::vector<Place>, uint32_t, PlacesHash> known;

std::string text_of(PyObject* text) {
  const char* utf8 = PyUnicode_AsUTF8(text);
  if (utf8 == nullptr) PyErr_Clear();
  return utf8 ? utf8 : "?";
}

// The programs that come with the package are like a user's.
bool is_case(const std::string& file) {
  const std::string cases = folders().proviso + "db/";
  return file.starts_with(cases) && !file.starts_with(cases + "_");
}

Origin classify(PyCodeObject* code) {
  const std::string file = text_of(code->co_filename);
  if (file.starts_with(folders().proviso) && !is_case(file))
    return text_of(code->co_name) == "_run_program" ? Origin::kRoot
                                                    : Origin::kProviso;
  const bool library = file.starts_with(folders().torch) ||
                       file.starts_with("<frozen") || file == "<string>";
  return library ? Origin::kTorch : Origin::kUser;
}

Origin origin_of(PyCodeObject* code) {
  auto found = origins().find(code);
  if (found != origins().end()) return found->second;
  Py_INCREF(code);
  return origins().emplace(code, classify(code)).first->second;
}

std::string source_line(const std::string& file, int line) {
  static auto* getline =
      new py::object(py::module_::import("linecache").attr("getline"));
  return py::str((*getline)(file, line).attr("strip")());
}

Frame read_frame(const Place& place) {
  Frame frame;
  frame.file = text_of(place.first->co_filename);
  frame.function = text_of(place.first->co_name);
  frame.line = PyCode_Addr2Line(place.first, place.second);
  frame.code = source_line(frame.file, frame.line);
  return frame;
}

// Kept across traces: a code object never changes.
const Frame& frame_of(const Place& place) {
  static auto* frames = new std::unordered_map<Place, Frame, PlaceHash>;
  auto found = frames->find(place);
  if (found == frames->end())
    found = frames->emplace(place, read_frame(place)).first;
  return found->second;
}

// Innermost first, up to the call that started the trace.
void collect(std::vector<Place>& user, std::vector<Place>& library) {
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  while (frame != nullptr) {
    PyCodeObject* code = PyFrame_GetCode(frame);
    const Origin origin = origin_of(code);
    Py_DECREF(code);  // origins() holds it
    if (origin == Origin::kUser)
      user.emplace_back(code, PyFrame_GetLasti(frame));
    else if (origin == Origin::kTorch && library.empty())
      library.emplace_back(code, PyFrame_GetLasti(frame));
    PyFrameObject* back =
        origin == Origin::kRoot ? nullptr : PyFrame_GetBack(frame);
    Py_DECREF(frame);
    frame = back;
  }
}

}  // namespace

void set_package_folders(const std::string& torch, const std::string& proviso) {
  folders() = {torch + "/", proviso + "/"};
  origins().clear();
}

uint32_t current_python_stack(Tracer& tracer) {
  const py::gil_scoped_acquire gil;
  // Numbers are of one tracer: a loaded program that runs has tracers of its
  // own, which look at its calls.
  thread_local std::weak_ptr<ShapeEnv> of;
  if (of.lock() != tracer.shared_env()) {
    known.clear();
    of = tracer.shared_env();
  }
  thread_local std::vector<Place> user, library;
  user.clear();
  library.clear();
  collect(user, library);
  const std::vector<Place>& places = user.empty() ? library : user;
  if (places.empty()) return 0;
  auto found = known.find(places);
  if (found != known.end()) return found->second;
  // linecache may run Python code, which may come back here.
  const std::vector<Place> key = places;
  const py::error_scope pending;  // a raised error stays raised
  std::vector<Frame> frames;
  for (auto place = key.rbegin(); place != key.rend(); ++place)
    frames.push_back(frame_of(*place));
  const uint32_t id = tracer.intern_stack(std::move(frames));
  known.emplace(key, id);
  return id;
}

}  // namespace proviso::python
