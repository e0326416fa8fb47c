/// \file
/// The readers of pictures, tables and raw binary.
// SPDX-License-Identifier: MIT
#include "readers.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <sstream>

namespace {

std::string contentsOf(const std::string& file) {
  if (!std::filesystem::exists(file)) throw InputError(file, "no such file");
  if (std::filesystem::is_directory(file)) throw InputError(file, "is a directory");
  std::ifstream stream(file, std::ios::binary);
  std::string contents{std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
  if (!stream) throw InputError(file, "cannot be read");
  if (contents.empty()) throw InputError(file, "the file is empty");
  return contents;
}

bool isSpace(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

// ---- Pictures

// Reads a PGM or PPM file from front to back.
class PictureParser {
 public:
  PictureParser(const std::string& file, const std::string& text) : file_(file), text_(text) {}

  Input parse() {
    const char kind = text_.size() > 1 && text_[0] == 'P' ? text_[1] : '\0';
    if (std::strchr("2356", kind) == nullptr || kind == '\0')
      throw InputError(file_, "not a PGM or PPM picture (P2, P3, P5, P6); --type reads raw binary, --column a table");
    at_ = 2;
    const bool isText = kind < '5';
    const std::size_t channels = kind == '3' || kind == '6' ? 3 : 1;
    const std::size_t width = number("the width", 1, largest);
    const std::size_t height = number("the height", 1, largest);
    const std::size_t maximum = number("the maximum", 1, 65535);
    const std::size_t count = width * height * channels;
    Input input;
    input.width = width;
    input.channels = channels;
    input.maximum = maximum;
    input.description = std::string(channels == 3 ? "colour" : "grey") + " picture, " + std::to_string(width) + " x " +
                        std::to_string(height) + ", " + (maximum < 256 ? "8" : "16") + " bit";
    if (maximum < 256)
      input.values = samples<std::uint8_t>(count, maximum, isText);
    else
      input.values = samples<std::uint16_t>(count, maximum, isText);
    return input;
  }

 private:
  static constexpr std::size_t largest = 1u << 30;

  [[noreturn]] void truncated(std::size_t samples, std::size_t there) const {
    throw InputError(
        file_, "truncated: the picture has " + std::to_string(samples) + " samples, the file " + std::to_string(there));
  }

  // White space and comments, from # to the end of the line, may stand before every number of text.
  void skipSpace() {
    for (; at_ < text_.size() && (isSpace(text_[at_]) || text_[at_] == '#'); ++at_)
      if (text_[at_] == '#') at_ = (std::min)(text_.find('\n', at_), text_.size() - 1);
  }

  std::size_t number(const std::string& what, std::size_t least, std::size_t most) {
    skipSpace();
    if (at_ == text_.size()) throw InputError(file_, "truncated: " + what + " is missing");
    std::size_t value = 0;
    const char* begin = text_.data() + at_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
    if (error == std::errc::invalid_argument) throw InputError(file_, "malformed: " + what + " is not a number");
    if (error != std::errc() || value < least || value > most)
      throw InputError(file_, "malformed: " + what + " is " + std::string(begin, end) + ", not between " +
                                  std::to_string(least) + " and " + std::to_string(most));
    at_ += static_cast<std::size_t>(end - begin);
    return value;
  }

  template <class T>
  std::vector<T> samples(std::size_t count, std::size_t maximum, bool isText) {
    return isText ? textSamples<T>(count, maximum) : binarySamples<T>(count, maximum);
  }

  template <class T>
  std::vector<T> textSamples(std::size_t count, std::size_t maximum) {
    std::vector<T> values;
    for (skipSpace(); values.size() < count && at_ < text_.size(); skipSpace())
      values.push_back(static_cast<T>(number("sample " + std::to_string(values.size()), 0, maximum)));
    if (values.size() < count) truncated(count, values.size());
    return values;
  }

  // One byte of white space, then the samples, of two bytes with the greater first.
  template <class T>
  std::vector<T> binarySamples(std::size_t count, std::size_t maximum) {
    if (at_ == text_.size()) truncated(count, 0);
    const auto* bytes = reinterpret_cast<const unsigned char*>(text_.data()) + at_ + 1;
    const std::size_t there = (text_.size() - at_ - 1) / sizeof(T);
    if (there < count) truncated(count, there);
    std::vector<T> values(count);
    for (std::size_t i = 0; i < count; ++i) {
      values[i] = sizeof(T) == 1 ? static_cast<T>(bytes[i]) : static_cast<T>(bytes[2 * i] * 256 + bytes[2 * i + 1]);
      if (values[i] > maximum)
        throw InputError(file_, "malformed: sample " + std::to_string(i) + " is " + std::to_string(values[i]) +
                                    ", the maximum is " + std::to_string(maximum));
    }
    return values;
  }

  const std::string& file_;
  const std::string& text_;
  std::size_t at_ = 0;
};

// ---- Tables

std::string trimmed(const std::string& text) {
  const auto begin = std::find_if_not(text.begin(), text.end(), isSpace);
  const auto end = std::find_if_not(text.rbegin(), std::make_reverse_iterator(begin), isSpace).base();
  return {begin, end};
}

// Fields may stand in double quotes; the delimiter is no delimiter there.
std::vector<std::string> fieldsOf(const std::string& line, char delimiter) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"')
      quoted = !quoted;
    else if (c == delimiter && !quoted)
      fields.emplace_back();
    else
      fields.back() += c;
  }
  for (std::string& field : fields) field = trimmed(field);
  return fields;
}

bool parseNumber(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0';
}

// The index of the column that is asked for, by name where the header has it and by number otherwise.
std::size_t findColumn(const std::string& file, const std::string& column, const std::vector<std::string>& firstLine) {
  const auto named = std::find(firstLine.begin(), firstLine.end(), column);
  if (named != firstLine.end()) return static_cast<std::size_t>(named - firstLine.begin());
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(column.data(), column.data() + column.size(), number);
  const bool isNumber = error == std::errc() && end == column.data() + column.size();
  if (!isNumber || number == 0 || number > firstLine.size())
    throw InputError(file, "has no column '" + column + "' among its " + std::to_string(firstLine.size()));
  return number - 1;
}

// ---- Raw binary

template <class T>
Values valuesOf(const std::string& bytes, std::size_t skip) {
  std::vector<T> values((bytes.size() - skip) / sizeof(T));
  std::memcpy(values.data(), bytes.data() + skip, values.size() * sizeof(T));
  return values;
}

struct RawType {
  std::size_t size;
  std::function<Values(const std::string&, std::size_t)> read;
};

template <class T>
RawType rawType() {
  return {sizeof(T), valuesOf<T>};
}

const std::map<std::string, RawType>& rawTypeTable() {
  static const std::map<std::string, RawType> table{
      {"int8", rawType<std::int8_t>()},     {"uint8", rawType<std::uint8_t>()}, {"int16", rawType<std::int16_t>()},
      {"uint16", rawType<std::uint16_t>()}, {"int32", rawType<std::int32_t>()}, {"uint32", rawType<std::uint32_t>()},
      {"int64", rawType<std::int64_t>()},   {"float", rawType<float>()},        {"double", rawType<double>()}};
  return table;
}

}  // namespace

Input readPicture(const std::string& file) {
  const std::string contents = contentsOf(file);
  return PictureParser(file, contents).parse();
}

Input readColumn(const std::string& file, const std::string& column, char delimiter) {
  std::istringstream lines(contentsOf(file));
  std::vector<double> values;
  std::size_t index = 0, lineNumber = 0;
  for (std::string line; std::getline(lines, line);) {
    const bool isFirst = ++lineNumber == 1;
    if (trimmed(line).empty()) continue;
    const std::vector<std::string> fields = fieldsOf(line, delimiter);
    if (isFirst) index = findColumn(file, column, fields);
    const std::string where = "malformed: line " + std::to_string(lineNumber);
    if (index >= fields.size())
      throw InputError(file, where + " has " + std::to_string(fields.size()) + " fields, column " +
                                 std::to_string(index + 1) + " is asked for");
    double value = 0;
    if (parseNumber(fields[index], value))
      values.push_back(value);
    else if (!isFirst)
      throw InputError(file, where + ": '" + fields[index] + "' is not a number");
  }
  if (values.empty()) throw InputError(file, "column '" + column + "' has no numbers");
  Input input;
  input.description = "column '" + column + "' of a table, " + std::to_string(values.size()) + " numbers";
  input.values = std::move(values);
  return input;
}

Input readRaw(const std::string& file, const std::string& type, std::size_t skip) {
  const RawType& raw = rawTypeTable().at(type);
  const std::string bytes = contentsOf(file);
  const std::string size = std::to_string(bytes.size()) + " bytes";
  if (skip >= bytes.size()) throw InputError(file, "nothing is left of " + size + " after " + std::to_string(skip));
  if ((bytes.size() - skip) % raw.size != 0)
    throw InputError(file, "truncated: " + size + " less " + std::to_string(skip) + " are no multiple of " +
                               std::to_string(raw.size) + ", the size of " + type);
  Input input;
  input.description = "raw binary, " + type;
  input.values = raw.read(bytes, skip);
  return input;
}

std::vector<std::string> rawTypes() {
  std::vector<std::string> names;
  for (const auto& [name, type] : rawTypeTable()) names.push_back(name);
  return names;
}

// In the source tree, or next to the program.
std::string shippedFile(const std::string& name) {
  const auto path = std::filesystem::path("data") / name;
  const auto source = std::filesystem::path(__FILE__).parent_path().parent_path() / path;
  if (std::filesystem::exists(source)) return source.lexically_normal().string();
  return (std::filesystem::read_symlink("/proc/self/exe").parent_path() / path).string();
}
