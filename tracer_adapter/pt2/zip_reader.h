// tracer_adapter/pt2/zip_reader.h - the records of a .pt2 file's zip.
//
//   ZipReader zip = ZipReader::open("model.pt2");
//   std::string_view json = zip.record("models/model.json");
//
// Names are below the archive's one folder.  Knows no torch type.  Trusts
// nothing: every offset and size is checked against the file, checksums hold,
// records are stored (as torch writes them) and do not overlap, so that reading
// costs no more than the file's size.
//
// Nor does it read what other readers (torch's, Python's) would read
// differently: two names that differ in case, a header that contradicts the
// directory, a comment with an end record of its own.  What is checked here is
// then what is loaded there.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sym/expr.h"

namespace proviso::inline v0_2::pt2 {

// A file that is not what it should be: the file, where, and what is wrong.
class FileError : public Error {
 public:
  using Error::Error;
};

class ZipReader {
 public:
  // Throws FileError.
  static ZipReader open(const std::string& path);
  ZipReader(std::string bytes, std::string path);

  bool has(const std::string& name) const { return records_.contains(name); }
  // Valid while the reader lives.  Throws FileError when there is none.
  std::string_view record(const std::string& name) const;
  std::vector<std::string> names() const;  // sorted
  const std::string& path() const { return path_; }

 private:
  struct Place {
    uint64_t offset = 0, size = 0;
  };
  struct Directory {
    uint64_t start = 0, end = 0, count = 0;
  };
  struct Entry {
    std::string name;
    uint64_t header = 0, size = 0, stored = 0, flags = 0;
    uint32_t crc = 0;
    bool is_folder = false;
  };
  using Span = std::pair<uint64_t, uint64_t>;  // from, to
  class Cursor;

  [[noreturn]] void fail(const std::string& what) const;
  size_t end_record() const;
  Directory directory() const;
  uint64_t end64(size_t locator, Directory* directory, uint64_t* size) const;
  Entry entry(Cursor& at) const;
  std::string inner_name(const Entry& entry);
  Place place_of(const Entry& entry) const;
  void add(const Entry& entry, const Place& place);
  void check_apart(std::vector<Span> spans, uint64_t end) const;

  std::string bytes_, path_, root_;
  std::map<std::string, Place> records_;
  std::set<std::string> folded_;  // their names in small letters
};

}  // namespace proviso::inline v0_2::pt2
