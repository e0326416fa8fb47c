/// \file
/// Reads entries from JSON. The file is flat: an object with the format's number and an array of objects, whose
/// members are strings and whole numbers. A general JSON library would be the only dependency that the users of these
/// headers have, and add seconds to each source that includes it.
// SPDX-License-Identifier: MIT
#pragma once

#include <gpuopt/core/integers.cuh>
#include <gpuopt/core/message.cuh>
#include <gpuopt/host/tuning/entry.cuh>

#include <charconv>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <system_error>
#include <vector>

GPUOPT_DETAIL_BEGIN

inline constexpr int tuningFormat = 1;

inline std::string asUtf8(unsigned code) {
  const unsigned more = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;  // bytes after the first
  const unsigned mark = more == 0 ? 0 : 0xF80 >> more & 0xFF;
  std::string text(1, static_cast<char>(mark | code >> 6 * more));
  for (unsigned left = more; left-- > 0;) text += static_cast<char>(0x80 | (code >> 6 * left & 0x3F));
  return text;
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
    std::size_t line = 1;
    for (std::size_t i = 0; i < at_; ++i) line += text_[i] == '\n' ? 1 : 0;
    throw std::runtime_error(message({"line ", line, ": ", what}));
  }
  [[noreturn]] static void failForeign() { throw std::runtime_error("it is no tuning file of gpuopt"); }

  // The next character that is no white space; '\0' at the end.
  char peek() {
    at_ = smallerOf(text_.find_first_not_of(" \t\r\n", at_), text_.size());
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
      value += c == '\\' ? readEscape() : std::string(1, c);
    }
    if (at_ == text_.size() || text_[at_] != '"') fail("a string does not end");
    ++at_;
    return value;
  }

  // What a backslash begins.
  std::string readEscape() {
    constexpr char NAMES[] = "\"\\/bfnrt", VALUES[] = "\"\\/\b\f\n\r\t";
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (c != '\0' && std::string(NAMES).find(c) != std::string::npos)
      return std::string(1, VALUES[std::string(NAMES).find(c)]);
    if (c != 'u') fail("an escape sequence is unknown");
    const unsigned code = readCodeUnit();
    if (code < 0xD800 || code > 0xDFFF) return asUtf8(code);
    // Two code units of UTF-16, with 10 bits each, make a character beyond 0xFFFF.
    if (code >= 0xDC00 || text_.compare(at_, 2, "\\u") != 0) fail("half a surrogate pair");
    at_ += 2;
    const unsigned second = readCodeUnit();
    if (second < 0xDC00 || second > 0xDFFF) fail("half a surrogate pair");
    return asUtf8(0x10000 + ((code - 0xD800) << 10) + (second - 0xDC00));
  }

  // Four hexadecimal digits.
  unsigned readCodeUnit() {
    unsigned code = 0;
    const char *first = text_.data() + at_, *last = first + smallerOf(std::size_t{4}, text_.size() - at_);
    const auto [end, error] = std::from_chars(first, last, code, 16);
    if (error != std::errc{} || end != first + 4) fail("an escape sequence is unknown");
    at_ += 4;
    return code;
  }

  const std::string& text_;
  std::size_t at_ = 0;
};

GPUOPT_DETAIL_END
