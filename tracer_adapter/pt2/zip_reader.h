// tracer_adapter/pt2/zip_reader.h - the records of a .pt2 file's zip.
//
//   ZipReader zip = ZipReader::open("model.pt2");
//   std::string_view json = zip.record("models/model.json");
//
// Names are below the archive's one folder.  Knows no torch type.  Trusts
// nothing: every offset and size is checked against the file, checksums hold,
// records are stored (as torch writes them) and do not overlap, so that reading
// costs no more than the file's size.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "sym/expr.h"

namespace proviso::pt2 {

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
  const std::string& path() const { return path_; }

 private:
  struct Place {
    uint64_t offset = 0, size = 0;
  };
  struct Entry {
    std::string name;
    uint64_t header = 0, size = 0, stored = 0;
    uint32_t crc = 0;
  };
  class Cursor;

  [[noreturn]] void fail(const std::string& what) const;
  size_t end_record() const;
  Cursor directory(uint64_t* count) const;
  Entry entry(Cursor& at) const;
  void add(const Entry& entry, uint64_t* total);

  std::string bytes_, path_;
  std::map<std::string, Place> records_;
};

}  // namespace proviso::pt2
