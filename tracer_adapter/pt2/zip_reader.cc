#include "tracer_adapter/pt2/zip_reader.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

namespace proviso::inline v0_2::pt2 {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kEnd64Size = 56;
constexpr uint64_t kSizesBehind = 1 << 3;            // of the flags
constexpr uint64_t kFlags = kSizesBehind | 1 << 11;  // names are UTF-8
constexpr uint64_t kFolderAttribute = 0x10;

uint32_t crc32(std::string_view bytes) {
  static const auto kTable = [] {
    std::array<uint32_t, 256> table{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = (c >> 1) ^ (c & 1 ? 0xedb88320U : 0U);
      table[i] = c;
    }
    return table;
  }();
  uint32_t crc = ~0U;
  for (const char b : bytes)
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<unsigned char>(b)) & 0xff];
  return ~crc;
}

// For an error, whatever stands in the file.
std::string shown(const std::string& name) {
  std::string text;
  for (const char c : name.substr(0, 100)) text += c < ' ' ? '?' : c;
  return name.size() > 100 ? text + "..." : text;
}

}  // namespace

// Reads little-endian numbers, never past the end.
class ZipReader::Cursor {
 public:
  Cursor(const ZipReader& zip, uint64_t at) : zip_(&zip), at_(at) {}

  uint64_t number(size_t width) {
    const std::string_view bytes = text(width);
    uint64_t value = 0;
    for (size_t i = width; i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(bytes[i]);
    return value;
  }
  uint64_t u16() { return number(2); }
  uint64_t u32() { return number(4); }
  uint64_t u64() { return number(8); }
  std::string_view text(uint64_t size) {
    const uint64_t end = zip_->bytes_.size();
    if (at_ > end || size > end - at_)
      zip_->fail("the file is truncated: " + std::to_string(size) +
                 " bytes at " + std::to_string(at_) + " lie past its end");
    at_ += size;
    return std::string_view(zip_->bytes_).substr(at_ - size, size);
  }
  void skip(uint64_t size) { text(size); }
  uint64_t at() const { return at_; }

 private:
  const ZipReader* zip_;
  uint64_t at_;
};

void ZipReader::fail(const std::string& what) const {
  throw FileError(path_ + ": " + what);
}

ZipReader ZipReader::open(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  if (!file || std::filesystem::is_directory(path))
    throw FileError(path + ": cannot be read; give the path of a .pt2 file");
  bytes << file.rdbuf();
  return ZipReader(std::move(bytes).str(), path);
}

// The end record is the file's last thing, without a comment: in one, other
// readers would look for an end record of their own.
size_t ZipReader::end_record() const {
  const size_t end = bytes_.size() - kEndSize;
  if (bytes_.rfind("PK\5\6") != end || Cursor(*this, end + 20).u16() != 0)
    fail("the file is truncated: it does not end with its zip directory");
  return end;
}

// Where the directory starts and ends, and how many entries it claims.
ZipReader::Directory ZipReader::directory() const {
  if (bytes_.size() < kEndSize || !bytes_.starts_with("PK"))
    fail("not a .pt2 file: it does not start as a zip file does");
  const size_t end = end_record();
  Cursor at(*this, end + 4);
  uint64_t disks = at.u16() + at.u16();
  const uint64_t here = at.u16();
  Directory directory;
  directory.count = at.u16();
  if (here != directory.count) disks = 1;
  uint64_t size = at.u32();
  directory.start = at.u32();
  directory.end = end;
  if (end >= kLocatorSize &&
      Cursor(*this, end - kLocatorSize).u32() == kEnd64Locator)
    disks += end64(end - kLocatorSize, &directory, &size);
  if (disks != 0) fail("the zip is spread over several files");
  // As when the file was cut behind a zip file that is one of its records.
  if (directory.start > directory.end ||
      size != directory.end - directory.start)
    fail(
        "the file is truncated or damaged: its zip directory is not where it "
        "says");
  return directory;
}

// The zip64 directory right in front of its locator says again what did not
// fit.  Returns what is not 0 where there are several disks.
uint64_t ZipReader::end64(size_t locator, Directory* directory,
                          uint64_t* size) const {
  Cursor at(*this, locator + 4);
  uint64_t disks = at.u32();
  const uint64_t place = at.u64();
  disks += at.u32() - 1;
  Cursor end(*this, place);
  if (place + kEnd64Size != locator || end.u32() != kEnd64 ||
      end.u64() != kEnd64Size - 12)
    fail(
        "the file is truncated or damaged: its zip64 directory is not where it "
        "says");
  end.skip(4);
  disks += end.u32() + end.u32();
  const uint64_t here = end.u64(), count = end.u64();
  const uint64_t bytes = end.u64(), start = end.u64();
  const auto says = [](uint64_t narrow, uint64_t wide, uint64_t full) {
    return narrow == wide || narrow == full;
  };
  if (here != count || !says(directory->count, count, 0xffff) ||
      !says(*size, bytes, 0xffffffff) ||
      !says(directory->start, start, 0xffffffff))
    fail("the zip has two directories that differ");
  *directory = {start, place, count};
  *size = bytes;
  return disks;
}

ZipReader::Entry ZipReader::entry(Cursor& at) const {
  if (at.u32() != kDirectoryEntry) fail("the zip's directory is damaged");
  Entry entry;
  at.skip(4);
  entry.flags = at.u16();
  const uint64_t method = at.u16();
  at.skip(4);
  entry.crc = static_cast<uint32_t>(at.u32());
  entry.stored = at.u32();
  entry.size = at.u32();
  const uint64_t name = at.u16(), extra = at.u16(), comment = at.u16();
  const uint64_t disk = at.u16();
  at.skip(2);
  const uint64_t attributes = at.u32();
  entry.header = at.u32();
  entry.name = at.text(name);
  const uint64_t end = at.at() + extra;
  bool wide = false;
  while (at.at() + 4 <= end) {
    const uint64_t id = at.u16(), size = at.u16();
    const uint64_t next = at.at() + size;
    if (next > end) break;
    if (id == 1 && std::exchange(wide, true)) break;
    if (id == 1)  // zip64: those that did not fit above, in this order
      for (uint64_t* field : {&entry.size, &entry.stored, &entry.header})
        if (*field == 0xffffffff && at.at() + 8 <= next) *field = at.u64();
    at = Cursor(*this, next);
  }
  if (at.at() != end || disk != 0 || comment != 0)
    fail("the entry of record '" + shown(entry.name) + "' is damaged");
  if (method != 0 || entry.size != entry.stored)
    fail("record '" + shown(entry.name) +
         "' is compressed; .pt2 files store their records as they are");
  if ((entry.flags & ~kFlags) != 0)
    fail("record '" + shown(entry.name) + "' is encrypted or patched");
  entry.is_folder = entry.name.ends_with('/');
  // torch gives memory that it never wrote for a record that is a folder.
  if (!entry.is_folder && (attributes & kFolderAttribute) != 0)
    fail("record '" + shown(entry.name) + "' says that it is a folder");
  return entry;
}

// Below the one folder of the archive; no other reader may take it for another.
std::string ZipReader::inner_name(const Entry& entry) {
  const size_t slash = entry.name.find('/');
  if (slash == std::string::npos)
    fail("record '" + shown(entry.name) + "' is in no folder; not a .pt2 file");
  if (root_.empty()) root_ = entry.name.substr(0, slash);
  std::string folder = entry.name.substr(0, slash);
  std::string rest = entry.name.substr(slash + 1);
  if (folder != root_ || folder.empty())
    fail("record '" + shown(entry.name) + "' is not in the archive's folder '" +
         shown(root_) + "'");
  std::string_view parts = entry.name;
  if (entry.is_folder) parts.remove_suffix(1);
  while (true) {
    const std::string_view part = parts.substr(0, parts.find('/'));
    const bool plain = std::none_of(
        part.begin(), part.end(),
        [](unsigned char c) { return c < ' ' || c == '\\' || c == 0x7f; });
    if (part.empty() || part == "." || part == ".." || !plain)
      fail("record '" + shown(entry.name) + "' is no name of a record");
    if (part.size() == parts.size()) return rest;
    parts.remove_prefix(part.size() + 1);
  }
}

// What stands in front of the record says the same as the directory.
ZipReader::Place ZipReader::place_of(const Entry& entry) const {
  Cursor at(*this, entry.header);
  if (at.u32() != kLocalHeader)
    fail("record '" + shown(entry.name) + "' is not where the directory says");
  at.skip(2);
  const uint64_t flags = at.u16(), method = at.u16();
  at.skip(4);
  const uint64_t crc = at.u32(), stored = at.u32(), size = at.u32();
  const uint64_t name = at.u16(), extra = at.u16();
  // Sizes that come behind the record, or in a field of zip64, are not here.
  const auto says = [&](uint64_t here, uint64_t value, bool may_be_wide) {
    return here == value || (here == 0 && (flags & kSizesBehind) != 0) ||
           (here == 0xffffffff && may_be_wide);
  };
  if (at.text(name) != entry.name || flags != entry.flags || method != 0 ||
      !says(crc, entry.crc, false) || !says(stored, entry.size, true) ||
      !says(size, entry.size, true))
    fail("record '" + shown(entry.name) +
         "' is another one than the directory says");
  at.skip(extra);
  const Place place{at.at(), entry.size};
  at.skip(entry.size);
  return place;
}

void ZipReader::add(const Entry& entry, const Place& place) {
  const std::string name = inner_name(entry);
  if (entry.is_folder) {
    if (place.size != 0)
      fail("the folder '" + shown(entry.name) + "' is not empty");
    return;
  }
  const std::string_view bytes =
      std::string_view(bytes_).substr(place.offset, place.size);
  if (crc32(bytes) != entry.crc)
    fail("the checksum of record '" + shown(entry.name) + "' is wrong");
  // torch finds a record whatever the case of its letters.
  std::string folded = name;
  for (char& c : folded)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  if (!folded_.insert(folded).second || !records_.emplace(name, place).second)
    fail("record '" + shown(entry.name) + "' is there twice");
}

void ZipReader::check_apart(std::vector<Span> spans, uint64_t end) const {
  std::sort(spans.begin(), spans.end());
  for (size_t i = 0; i < spans.size(); ++i)
    if (spans[i].second > (i + 1 < spans.size() ? spans[i + 1].first : end))
      fail("records overlap");
}

ZipReader::ZipReader(std::string bytes, std::string path)
    : bytes_(std::move(bytes)), path_(std::move(path)) {
  const Directory directory = this->directory();
  Cursor at(*this, directory.start);
  std::vector<std::pair<Entry, Place>> entries;
  std::vector<Span> spans;
  for (uint64_t i = 0; i < directory.count; ++i) {
    Entry next = entry(at);
    const Place place = place_of(next);
    spans.emplace_back(next.header, place.offset + place.size);
    entries.emplace_back(std::move(next), place);
  }
  if (at.at() != directory.end) fail("the zip's directory is damaged");
  check_apart(std::move(spans), directory.start);
  for (const auto& [entry, place] : entries) add(entry, place);
}

std::vector<std::string> ZipReader::names() const {
  std::vector<std::string> names;
  for (const auto& [name, place] : records_) names.push_back(name);
  return names;
}

std::string_view ZipReader::record(const std::string& name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) fail("there is no record '" + shown(name) + "'");
  return std::string_view(bytes_).substr(found->second.offset,
                                         found->second.size);
}

}  // namespace proviso::inline v0_2::pt2
