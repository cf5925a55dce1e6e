// archive_mutations COUNT SEED [--keep=FILE] FILE.pt2...
//
// --keep writes the one archive of that seed to FILE.
//
// Damage to the zip of real .pt2 files: cut, bytes changed, entries taken away,
// doubled, moved onto each other, renamed out of the folder, with sizes and
// counts that are not so.  Whatever is done, the archive is refused with an
// error of ours, or it is read as torch reads it: what torch's
// reader refuses we refuse, and what both read has the same bytes.
//
// One archive, two readers of different mind, is how a file passes a check and
// then runs as something else.
#include <caffe2/serialize/inline_container.h>
#include <caffe2/serialize/read_adapter_interface.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "tests/fuzz/contained.h"
#include "tracer_adapter/pt2/program_reader.h"

#if defined(__SANITIZE_ADDRESS__)
extern "C" const char* __asan_default_options() {
  return "detect_leaks=0:detect_odr_violation=0:allocator_may_return_null=1:"
         "malloc_context_size=4:hard_rss_limit_mb=4000";
}
extern "C" const char* __ubsan_default_options() {
  return "halt_on_error=1:print_stacktrace=1";
}
#endif

namespace proviso::fuzz {
namespace {

using Random = std::mt19937_64;

size_t below(Random& random, size_t end) { return random() % end; }

uint64_t number(const std::string& bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  return value;
}

std::string little_endian(uint64_t value, size_t width) {
  std::string out;
  for (size_t i = 0; i < width; ++i, value >>= 8)
    out += static_cast<char>(value & 0xff);
  return out;
}

// --- an archive in parts

struct Field {
  size_t at, width;
};
// Of a header of the directory ("PK\1\2"), of a record's ("PK\3\4"), and of the
// end ("PK\5\6"), behind their four bytes.
// clang-format off
constexpr Field kEntryFields[] = {
    {4, 2}, {6, 2}, {8, 2}, {10, 2}, {12, 4}, {16, 4}, {20, 4}, {24, 4},
    {28, 2}, {30, 2}, {32, 2}, {34, 2}, {36, 2}, {38, 4}, {42, 4}};
constexpr Field kLocalFields[] = {
    {4, 2}, {6, 2}, {8, 2}, {10, 4}, {14, 4}, {18, 4}, {22, 4}, {26, 2},
    {28, 2}};
constexpr Field kEndFields[] = {
    {4, 2}, {6, 2}, {8, 2}, {10, 2}, {12, 4}, {16, 4}, {20, 2}};
// clang-format on
constexpr size_t kEntrySize = 46, kNameLength = 28, kExtraLength = 30,
                 kCommentLength = 32, kHeaderPlace = 42;

// The records as they lie in the file, the directory's entries, and the end.
struct Archive {
  std::string records, end;
  std::vector<std::string> entries, names;

  std::string bytes() const {
    std::string out = records;
    for (const std::string& entry : entries) out += entry;
    return out + end;
  }
  // Says again how many entries there are, and where.
  void mend() {
    size_t size = 0;
    for (const std::string& entry : entries) size += entry.size();
    end.replace(8, 2, little_endian(entries.size(), 2));
    end.replace(10, 2, little_endian(entries.size(), 2));
    end.replace(12, 4, little_endian(size, 4));
    end.replace(16, 4, little_endian(records.size(), 4));
  }
};

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

Archive read_archive(const std::string& path) {
  const std::string bytes = read_file(path);
  Archive archive;
  const size_t end = bytes.rfind("PK\5\6");
  if (end == std::string::npos) throw Error(path + " is no zip file");
  archive.end = bytes.substr(end);
  size_t at = number(bytes, end + 16, 4);
  archive.records = bytes.substr(0, at);
  for (size_t n = number(bytes, end + 10, 2); n-- > 0;) {
    const size_t name = number(bytes, at + kNameLength, 2);
    const size_t size = kEntrySize + name +
                        number(bytes, at + kExtraLength, 2) +
                        number(bytes, at + kCommentLength, 2);
    archive.entries.push_back(bytes.substr(at, size));
    archive.names.push_back(bytes.substr(at + kEntrySize, name));
    at += size;
  }
  return archive;
}

// --- damage

class Damage {
 public:
  explicit Damage(uint64_t seed) : random_(seed) {}

  std::string of(Archive archive) {
    for (size_t n = 1 + below(random_, 2); n-- > 0;) change(archive);
    if (below(random_, 4)) archive.mend();
    std::string bytes = archive.bytes();
    for (size_t n = below(random_, 3); n-- > 0;) change_bytes(bytes);
    return bytes;
  }

 private:
  // A number near what stands there, or one that is too much.
  uint64_t odd_number(uint64_t now) {
    switch (below(random_, 7)) {
      case 0: return 0;
      case 1: return now + 1;
      case 2: return now - 1;
      case 3: return 0xffffffffffffffff;
      case 4: return uint64_t{1} << below(random_, 64);
      case 5: return below(random_, 30000);
      default: return now ^ uint64_t{1} << below(random_, 16);
    }
  }
  void change_field(std::string& bytes, size_t at, Field field) {
    if (at + field.at + field.width > bytes.size()) return;
    const uint64_t now = number(bytes, at + field.at, field.width);
    bytes.replace(at + field.at, field.width,
                  little_endian(odd_number(now), field.width));
  }
  template <size_t N>
  Field one_of(const Field (&fields)[N]) {
    return fields[below(random_, N)];
  }
  size_t place_of(const std::string& entry) {
    return entry.size() < kEntrySize ? 0 : number(entry, kHeaderPlace, 4);
  }
  void rename(std::string& entry) {
    static const std::vector<std::string> kNames = {
        "",
        "/",
        "..",
        "../x",
        "/etc/passwd",
        "a/../../x",
        "p//models",
        "models/model.json",
        std::string("p/\0x", 4),
        "P/Models/Model.json",
        "archive\\models\\model.json",
        "archive/models/model.json",
        "archive/./models/model.json",
        std::string(70000 % 65536, 'n')};
    const std::string name = kNames[below(random_, kNames.size())];
    const size_t old = number(entry, kNameLength, 2);
    entry.replace(kEntrySize, old, name);
    entry.replace(kNameLength, 2, little_endian(name.size(), 2));
  }
  // A zip64 field with sizes and a place of its own.
  void add_zip64(std::string& entry) {
    std::string extra = little_endian(1, 2) + little_endian(24, 2);
    for (int i = 0; i < 3; ++i)
      extra += little_endian(odd_number(below(random_, 30000)), 8);
    const size_t name = number(entry, kNameLength, 2);
    entry.insert(std::min(kEntrySize + name, entry.size()), extra);
    entry.replace(kExtraLength, 2,
                  little_endian(number(entry, kExtraLength, 2) + 28, 2));
    for (const size_t at : {20, 24, 42})
      if (below(random_, 2)) entry.replace(at, 4, little_endian(-1, 4));
  }
  // "PK\6\6" with its locator, in front of the end.
  std::string zip64_end(const Archive& archive) {
    const size_t start = archive.records.size();
    size_t size = 0;
    for (const std::string& entry : archive.entries) size += entry.size();
    const auto some = [&](uint64_t good) {
      return little_endian(below(random_, 4) ? good : odd_number(good), 8);
    };
    const uint64_t count = archive.entries.size();
    return "PK\6\6" + some(44) + little_endian(45, 2) + little_endian(45, 2) +
           little_endian(0, 8) + some(count) + some(count) + some(size) +
           some(start) + "PK\6\7" + little_endian(0, 4) + some(start + size) +
           little_endian(1, 4);
  }

  void change(Archive& archive) {
    std::vector<std::string>& entries = archive.entries;
    if (entries.empty()) return;
    std::string& entry = entries[below(random_, entries.size())];
    std::string& other = entries[below(random_, entries.size())];
    if (entry.size() < kEntrySize || other.size() < kEntrySize) return;
    switch (below(random_, 14)) {
      case 0: return change_field(entry, 0, one_of(kEntryFields));
      case 1:
        return change_field(archive.records, place_of(entry),
                            one_of(kLocalFields));
      case 2: return change_field(archive.end, 0, one_of(kEndFields));
      case 3: entries.push_back(entry); return;
      case 4:
        entries.erase(entries.begin() + (&entry - entries.data()));
        return;
      case 5: std::swap(entry, other); return;
      case 6:  // the header of another record
        entry.replace(kHeaderPlace, 4, little_endian(place_of(other), 4));
        return;
      case 7:  // of another, whole: crc, sizes and place
        entry.replace(16, 12, other.substr(16, 12));
        entry.replace(kHeaderPlace, 4, little_endian(place_of(other), 4));
        return;
      case 8: return rename(entry);
      case 9: return add_zip64(entry);
      case 10: archive.end = zip64_end(archive) + archive.end; return;
      case 11: {  // a comment, which may hold an end of its own
        const std::string comment = below(random_, 2)
                                        ? archive.end
                                        : std::string(below(random_, 99), 'c');
        archive.end.replace(20, 2, little_endian(comment.size(), 2));
        archive.end += comment;
        return;
      }
      case 12: {  // another record of a name that is there, in front or behind
        const std::string body = "{}",
                          name = entry.substr(kEntrySize,
                                              number(entry, kNameLength, 2));
        const size_t at = archive.records.size();
        const std::string common =
            little_endian(20, 2) + little_endian(0, 8) +
            little_endian(0xa3a6bf43, 4) + little_endian(body.size(), 4) +
            little_endian(body.size(), 4) + little_endian(name.size(), 2) +
            little_endian(0, 2);
        archive.records += "PK\3\4" + common + name + body;
        const std::string added = "PK\1\2" + little_endian(20, 2) + common +
                                  little_endian(0, 10) + little_endian(at, 4) +
                                  name;
        entries.insert(entries.begin() + below(random_, entries.size() + 1),
                       added);
        return;
      }
      default: {  // bytes in front of all, or between records and directory
        const std::string more(1 + below(random_, 64), 'P');
        archive.records.insert(below(random_, 2) ? 0 : archive.records.size(),
                               more);
        return;
      }
    }
  }

  void change_bytes(std::string& bytes) {
    if (bytes.empty()) return;
    // The directory and the end more often than records.
    const size_t last = std::min<size_t>(bytes.size(), 1500);
    const size_t at = below(random_, 3)
                          ? bytes.size() - 1 - below(random_, last)
                          : below(random_, bytes.size());
    switch (below(random_, 8)) {
      case 0: bytes.resize(at); return;
      case 1: bytes.erase(at, 1 + below(random_, 8)); return;
      case 2: bytes.insert(at, 1 + below(random_, 8), '\0'); return;
      case 3: bytes += std::string(1 + below(random_, 40), '\0'); return;
      default:
        bytes[at] = static_cast<char>(
            below(random_, 2) ? random_() : bytes[at] ^ 1 << below(random_, 8));
    }
  }

  Random random_;
};

// --- two readers

class Bytes final : public caffe2::serialize::ReadAdapterInterface {
 public:
  explicit Bytes(const std::string& bytes) : bytes_(bytes) {}
  size_t size() const override { return bytes_.size(); }
  size_t read(uint64_t pos, void* buf, size_t n, const char*) const override {
    if (pos >= bytes_.size()) return 0;
    const size_t count = std::min<size_t>(n, bytes_.size() - pos);
    std::memcpy(buf, bytes_.data() + pos, count);
    return count;
  }

 private:
  const std::string& bytes_;
};

struct Counts : Progress {
  std::atomic<uint64_t> refused{0}, read{0}, unchanged{0}, peer_refused{0};
};

struct Trials {
  const std::vector<Archive>& archives;
  Counts& counts;
  std::string keep;  // the one archive, to this file

  void finding(const std::string& what) const { report_finding(counts, what); }

  void one(uint64_t seed) const {
    counts.stage = "make";
    Random random(seed);
    const Archive& archive = archives[below(random, archives.size())];
    const std::string bytes = Damage(random()).of(archive);
    if (!keep.empty()) std::ofstream(keep, std::ios::binary) << bytes;
    counts.stage = "ours";
    std::optional<pt2::ZipReader> ours;
    try {
      ours.emplace(bytes, "damaged.pt2");
      pt2::check_archive(*ours);
    } catch (const pt2::FileError& error) {
      const std::string text = error.what();
      if (!keep.empty()) std::printf("refused: %s\n", text.c_str());
      ++counts.refused;
      return;
    } catch (const std::exception& error) {
      return finding(error.what());
    }
    ++counts.read;
    counts.unchanged += bytes == archive.bytes();
    counts.stage = "torch's";
    compare(*ours, archive, bytes);
  }

  void refused(const std::string& why) const {
    ++counts.peer_refused;
    finding("torch refuses what we read: " + why);
  }

  // All that torch finds, and all that there was.
  void compare(const pt2::ZipReader& ours, const Archive& archive,
               const std::string& bytes) const {
    try {
      caffe2::serialize::PyTorchStreamReader theirs(
          std::make_shared<Bytes>(bytes));
      std::vector<std::string> names = theirs.getAllRecords();
      for (const std::string& name : archive.names)
        names.push_back(name.substr(name.find('/') + 1));
      for (const std::string& name : names) {
        if (name.empty() || name.ends_with('/')) continue;  // a folder
        const bool has = ours.has(name);
        if (has != theirs.hasRecord(name))
          finding("'" + name + "' is read by " + (has ? "us" : "torch") +
                  " alone");
        else if (has)
          compare(name, ours.record(name), theirs);
      }
    } catch (const c10::Error& error) {
      refused(error.what_without_backtrace());
    } catch (const std::exception& error) {
      refused(error.what());
    }
  }

  void compare(const std::string& name, std::string_view ours,
               caffe2::serialize::PyTorchStreamReader& theirs) const {
    const auto [data, size] = theirs.getRecord(name);
    if (ours != std::string_view(static_cast<const char*>(data.get()), size))
      finding("'" + name + "' differs");
  }
};

int main(uint64_t count, uint64_t seed, const std::string& keep,
         const std::vector<std::string>& files) {
  std::vector<Archive> archives;
  for (const std::string& file : files) archives.push_back(read_archive(file));
  auto& counts = shared<Counts>();
  const Trials trials{archives, counts, keep};
  const auto start = std::chrono::steady_clock::now();
  if (!keep.empty())
    trials.one(seed);
  else
    run_contained(counts, seed, count, [&](uint64_t s) { trials.one(s); });
  const std::chrono::duration<double> took =
      std::chrono::steady_clock::now() - start;
  std::printf(
      "%lu damaged archives of %zu files from seed %lu in %.1f s: %lu refused, "
      "%lu read (%lu as they were), torch refused %lu of them; %lu findings\n",
      keep.empty() ? count : 1, archives.size(), seed, took.count(),
      counts.refused.load(), counts.read.load(), counts.unchanged.load(),
      counts.peer_refused.load(), counts.findings.load());
  return counts.findings == 0 ? 0 : 1;
}

}  // namespace
}  // namespace proviso::fuzz

int main(int argc, char** argv) {
  std::vector<std::string> files;
  std::string keep;
  for (int i = 3; i < argc; ++i) {
    const std::string word = argv[i];
    if (word.starts_with("--keep="))
      keep = word.substr(7);
    else
      files.push_back(word);
  }
  if (files.empty()) {
    std::fprintf(
        stderr,
        "usage: archive_mutations COUNT SEED [--keep=FILE] FILE.pt2...\n");
    return 2;
  }
  return proviso::fuzz::main(std::stoull(argv[1]), std::stoull(argv[2]), keep,
                             files);
}
