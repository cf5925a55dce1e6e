#include "tracer_adapter/pt2/zip_reader.h"

#include <array>
#include <fstream>
#include <iterator>

namespace proviso::pt2 {
namespace {

constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryEntry = 0x02014b50;
constexpr uint32_t kEnd64 = 0x06064b50;
constexpr uint32_t kEnd64Locator = 0x07064b50;
constexpr size_t kEndSize = 22, kLocatorSize = 20, kLongestComment = 65535;

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
  std::string bytes((std::istreambuf_iterator<char>(file)), {});
  if (!file && bytes.empty())
    throw FileError(path + ": cannot be read; give the path of a .pt2 file");
  return ZipReader(std::move(bytes), path);
}

// The end record is the file's last thing.  A record may hold a zip file of its
// own, so one that is found earlier is not the archive's.
size_t ZipReader::end_record() const {
  const size_t last = bytes_.size() - kEndSize;
  const size_t first = last > kLongestComment ? last - kLongestComment : 0;
  for (size_t at = bytes_.rfind("PK\5\6", last);
       at != std::string::npos && at >= first;
       at = at == 0 ? std::string::npos : bytes_.rfind("PK\5\6", at - 1)) {
    Cursor comment(*this, at + kEndSize - 2);
    if (comment.u16() == bytes_.size() - at - kEndSize) return at;
  }
  fail("the file is truncated: its zip directory is missing");
}

// Where the directory starts, and how many entries it claims.
ZipReader::Cursor ZipReader::directory(uint64_t* count) const {
  if (bytes_.size() < kEndSize || !bytes_.starts_with("PK"))
    fail("not a .pt2 file: it does not start as a zip file does");
  const size_t end = end_record();
  size_t after = end;  // what follows the directory
  Cursor at(*this, end + 10);
  *count = at.u16();
  uint64_t size = at.u32(), start = at.u32();
  if (end >= kLocatorSize) {
    Cursor locator(*this, end - kLocatorSize);
    if (locator.u32() == kEnd64Locator) {
      locator.skip(4);
      after = locator.u64();
      Cursor end64(*this, after);
      if (end64.u32() != kEnd64)
        fail(
            "the file is truncated or damaged: its zip64 directory is not "
            "where it says");
      end64.skip(28);
      *count = end64.u64();
      size = end64.u64();
      start = end64.u64();
    }
  }
  // As when the file was cut behind a zip file that is one of its records.
  if (start > after || size != after - start)
    fail(
        "the file is truncated or damaged: its zip directory is not where it "
        "says");
  return Cursor(*this, start);
}

ZipReader::Entry ZipReader::entry(Cursor& at) const {
  if (at.u32() != kDirectoryEntry) fail("the zip's directory is damaged");
  at.skip(6);
  const uint64_t method = at.u16();
  at.skip(4);
  Entry entry;
  entry.crc = static_cast<uint32_t>(at.u32());
  entry.stored = at.u32();
  entry.size = at.u32();
  const uint64_t name = at.u16(), extra = at.u16(), comment = at.u16();
  at.skip(8);
  entry.header = at.u32();
  entry.name = at.text(name);
  const uint64_t end = at.at() + extra;
  while (at.at() + 4 <= end) {
    const uint64_t id = at.u16(), size = at.u16();
    const uint64_t next = at.at() + size;
    if (id == 1)  // zip64: those that did not fit above, in this order
      for (uint64_t* field : {&entry.size, &entry.stored, &entry.header})
        if (*field == 0xffffffff && at.at() + 8 <= next) *field = at.u64();
    at = Cursor(*this, next);
  }
  at = Cursor(*this, end);
  at.skip(comment);
  if (method != 0 || entry.size != entry.stored)
    fail("record '" + entry.name +
         "' is compressed; .pt2 files store their records as they are");
  return entry;
}

void ZipReader::add(const Entry& entry, uint64_t* total) {
  Cursor at(*this, entry.header);
  if (at.u32() != kLocalHeader)
    fail("record '" + entry.name + "' is not where the directory says");
  at.skip(22);
  const uint64_t name = at.u16(), extra = at.u16();
  at.skip(name);
  at.skip(extra);
  const Place place{at.at(), entry.size};
  const std::string_view bytes = at.text(entry.size);
  *total += entry.size;
  if (*total > bytes_.size()) fail("records overlap");
  if (crc32(bytes) != entry.crc)
    fail("the checksum of record '" + entry.name + "' is wrong");
  const size_t slash = entry.name.find('/');
  if (slash == std::string::npos)
    fail("record '" + entry.name + "' is in no folder; not a .pt2 file");
  if (!records_.emplace(entry.name.substr(slash + 1), place).second)
    fail("record '" + entry.name + "' is there twice");
}

ZipReader::ZipReader(std::string bytes, std::string path)
    : bytes_(std::move(bytes)), path_(std::move(path)) {
  uint64_t count = 0, total = 0;
  Cursor at = directory(&count);
  for (uint64_t i = 0; i < count; ++i) add(entry(at), &total);
}

std::string_view ZipReader::record(const std::string& name) const {
  const auto found = records_.find(name);
  if (found == records_.end()) fail("there is no record '" + name + "'");
  return std::string_view(bytes_).substr(found->second.offset,
                                         found->second.size);
}

}  // namespace proviso::pt2
