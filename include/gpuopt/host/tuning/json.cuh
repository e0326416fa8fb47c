/// \file
/// Entries as JSON and back. The file is flat: an object with the format's number and an array of objects, whose
/// members are strings and whole numbers. A general JSON library would be the only dependency that the users of these
/// headers have, and add seconds to each source that includes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/message.cuh>
#include <gpuopt/host/tuning/entry.cuh>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

GPUOPT_DETAIL_BEGIN

inline constexpr int tuningFormat = 1;

inline std::string asJson(long long number) { return std::to_string(number); }

inline std::string asJson(const std::string& text) {
  std::string quoted = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      quoted += '\\';
      quoted += c;
    } else if (code < 0x20) {
      char escape[8];
      std::snprintf(escape, sizeof escape, "\\u%04x", static_cast<unsigned>(code));
      quoted += escape;
    } else {
      quoted += c;
    }
  }
  return quoted + '"';
}

/// A line for each entry, in the order of their keys.
inline std::string writeTuning(std::vector<TuningEntry> entries) {
  std::sort(entries.begin(), entries.end());
  std::string text = "{\"gpuopt_tuning\": " + asJson(tuningFormat) + ", \"entries\": [";
  const char* before = "\n  {";
  for (const TuningEntry& entry : entries) {
    text += before;
    const char* separator = "";
    visitTuningMembers(entry, [&](const char* name, const auto& value) {
      text += separator + asJson(std::string(name)) + ": " + asJson(value);
      separator = ", ";
    });
    before = "},\n  {";
  }
  return text + (entries.empty() ? "]}\n" : "}\n]}\n");
}

/// Reads what writeTuning() writes, and the same with other white space or another order of members. read() throws
/// std::runtime_error, whose text says what is wrong and in which line.
class TuningReader {
 public:
  explicit TuningReader(const std::string& text) : text_(text) {}

  std::vector<TuningEntry> read() {
    int format = 0;
    std::vector<TuningEntry> entries;
    readObject([&](const std::string& name) {
      if (name == "gpuopt_tuning")
        readValue(format);
      else if (name == "entries")
        readList([&] { entries.push_back(readEntry()); });
      else
        failForeign();
    });
    if (peek() != '\0' || at_ < text_.size()) fail("the end is expected");
    if (format == 0) failForeign();
    if (format != tuningFormat)
      throw std::runtime_error(message({"its format is ", format, ", this version of gpuopt reads ", tuningFormat}));
    return entries;
  }

 private:
  [[noreturn]] void fail(const char* what) const {
    const auto end = text_.begin() + static_cast<std::ptrdiff_t>(at_);
    throw std::runtime_error(message({"line ", 1 + std::count(text_.begin(), end, '\n'), ": ", what}));
  }
  [[noreturn]] static void failForeign() { throw std::runtime_error("it is no tuning file of gpuopt"); }

  // The next character that is no white space; '\0' at the end.
  char peek() {
    at_ = (std::min)(text_.find_first_not_of(" \t\r\n", at_), text_.size());
    return at_ < text_.size() ? text_[at_] : '\0';
  }

  bool take(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, const char* what) {
    if (!take(c)) fail(what);
  }

  // Calls member(name), which reads the value.
  template <class Member>
  void readObject(Member member) {
    expect('{', "{ is expected");
    if (take('}')) return;
    do {
      const std::string name = readString();
      expect(':', ": is expected");
      member(name);
    } while (take(','));
    expect('}', ", or } is expected");
  }

  template <class Item>
  void readList(Item item) {
    expect('[', "[ is expected");
    if (take(']')) return;
    do item();
    while (take(','));
    expect(']', ", or ] is expected");
  }

  TuningEntry readEntry() {
    TuningEntry entry;
    readObject([&](const std::string& name) {
      bool isKnown = false;
      visitTuningMembers(entry, [&](const char* each, auto& value) {
        if (name != each) return;
        isKnown = true;
        readValue(value);
      });
      if (!isKnown) fail("an entry has an unknown member");
    });
    if (entry.key.name.empty() || entry.device.empty() || entry.choice.empty())
      fail("an entry has no name, device or choice");
    return entry;
  }

  void readValue(std::string& value) { value = readString(); }
  template <class N>
  void readValue(N& number) {
    peek();
    const auto [end, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), number);
    if (error != std::errc{}) fail("a whole number is expected");
    at_ = static_cast<std::size_t>(end - text_.data());
  }

  std::string readString() {
    expect('"', "a string is expected");
    std::string value;
    while (at_ < text_.size() && static_cast<unsigned char>(text_[at_]) >= 0x20 && text_[at_] != '"') {
      const char c = text_[at_++];
      value += c == '\\' ? readEscape() : c;
    }
    if (at_ == text_.size() || text_[at_] != '"') fail("a string does not end");
    ++at_;
    return value;
  }

  char readEscape() {
    static constexpr char NAMES[] = "\"\\/bfnrt", VALUES[] = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c != '\0' && std::string(NAMES).find(c) != std::string::npos) return VALUES[std::string(NAMES).find(c)];
    unsigned code = 0;
    if (c != 'u' || at_ + 4 > text_.size()) fail("an escape sequence is unknown");
    const char* first = text_.data() + at_;
    const auto [end, error] = std::from_chars(first, first + 4, code, 16);
    if (error != std::errc{} || end != first + 4 || code >= 0x80) fail("an escape sequence is unknown");
    at_ += 4;
    return static_cast<char>(code);
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

GPUOPT_DETAIL_END
