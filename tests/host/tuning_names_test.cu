/// \file
/// The name of the tuning file: links, folders, permissions, and what is no file.
// SPDX-License-Identifier: MIT
#include "support/catch.hpp"
#include "support/tuning_folder.hpp"

#include <gpuopt/host/tuning/file.cuh>
#include <gpuopt/host/tuning/json.cuh>
#include <gpuopt/host/tuning/save.cuh>
#include <gpuopt/host/tuning/store.cuh>

#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace {

using gpuopt::detail::mergeIntoFile;
using gpuopt::detail::readTuningFile;
using gpuopt::detail::TuningEntry;
using gpuopt::detail::TuningStore;
using gpuopt::detail::writeTuning;
using gpuopt::test::reportedBy;
using gpuopt::test::TuningFolder;

TuningEntry namedEntry(const std::string& name) {
  TuningEntry entry;
  entry.key = {name, "float", 1};
  entry.device = "A GPU";
  entry.choice = "x";
  return entry;
}

}  // namespace

TEST_CASE("Entries are merged into the file that a symbolic link refers to") {
  const TuningFolder folder;
  mergeIntoFile(folder.file(), {namedEntry("a")});
  REQUIRE(::symlink(folder.file().c_str(), folder.file("link").c_str()) == 0);
  mergeIntoFile(folder.file("link"), {namedEntry("b")});
  REQUIRE(readTuningFile(folder.file()).size() == 2);
  REQUIRE(std::filesystem::is_symlink(folder.file("link")));
  REQUIRE(::access(folder.file("link.lock").c_str(), F_OK) != 0);
}

TEST_CASE("A symbolic link to a tuning file that is not there yet stays") {
  const TuningFolder folder;
  REQUIRE(::mkdir(folder.file("far").c_str(), 0700) == 0);
  REQUIRE(::symlink("far/second", folder.file("first").c_str()) == 0);
  REQUIRE(::symlink(folder.file("far/t.json").c_str(), folder.file("far/second").c_str()) == 0);
  TuningStore store;
  REQUIRE(store.load(folder.file("first")));
  store.remember(namedEntry("a"));
  REQUIRE(std::filesystem::is_symlink(folder.file("first")));
  REQUIRE(std::filesystem::is_symlink(folder.file("far/second")));
  REQUIRE(readTuningFile(folder.file("far/t.json")).size() == 1);
}

TEST_CASE("A tuning file keeps its permissions and its owner") {
  const TuningFolder folder;
  for (const unsigned mode : {0600u, 0666u, 0640u}) {
    std::ofstream(folder.file()) << writeTuning({});
    REQUIRE(::chmod(folder.file().c_str(), mode) == 0);
    const bool isRoot = ::chown(folder.file().c_str(), 4321, 8765) == 0;
    mergeIntoFile(folder.file(), {namedEntry("a")});
    REQUIRE(readTuningFile(folder.file()).size() == 1);
    struct stat status {};
    REQUIRE(::stat(folder.file().c_str(), &status) == 0);
    REQUIRE((status.st_mode & 07777) == mode);
    if (isRoot) REQUIRE((status.st_uid == 4321 && status.st_gid == 8765));
  }
}

TEST_CASE("A tuning file stays the same when the program changes its folder") {
  const TuningFolder folder;
  REQUIRE(::mkdir(folder.file("other").c_str(), 0700) == 0);
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder.file("."));
  TuningStore store;
  const bool isLoaded = store.load("t.json");
  std::filesystem::current_path(folder.file("other"));
  store.remember(namedEntry("a"));
  std::filesystem::current_path(before);
  REQUIRE(isLoaded);
  REQUIRE(readTuningFile(folder.file()).size() == 1);
  REQUIRE_FALSE(std::filesystem::exists(folder.file("other/t.json")));
}

TEST_CASE("A tuning file that cannot be written is reported once") {
  const TuningFolder folder;
  TuningStore store;
  REQUIRE(::mkdir(folder.file("none").c_str(), 0700) == 0);
  REQUIRE(store.load(folder.file("none/t.json")));
  REQUIRE(::rmdir(folder.file("none").c_str()) == 0);
  const std::string report = reportedBy([&] {
    store.remember(namedEntry("a"));
    store.remember(namedEntry("b"));
  });
  REQUIRE(folder.without(report) ==
          "gpuopt: the tuning file none/t.json is ignored: it cannot be made: No such file or directory");
  REQUIRE(store.find({"a", "float", 1}, "A GPU") == "x");
}

TEST_CASE("A folder is no tuning file") {
  const TuningFolder folder;
  TuningStore store;
  const std::string report = reportedBy([&] { REQUIRE_FALSE(store.load(folder.file("."))); });
  REQUIRE(folder.without(report) == "gpuopt: the tuning file . is ignored: it is no regular file");
}

TEST_CASE("A pipe is no tuning file, and nobody waits for it") {
  const TuningFolder folder;
  REQUIRE(::mkfifo(folder.file().c_str(), 0600) == 0);
  TuningStore store;
  ::alarm(60);  // ends the program
  const std::string report = reportedBy([&] { REQUIRE_FALSE(store.load(folder.file())); });
  ::alarm(0);
  REQUIRE(folder.without(report) == "gpuopt: the tuning file t.json is ignored: it is no regular file");
}

TEST_CASE("A tuning file that could not be made is not used") {
  const TuningFolder folder;
  TuningStore store;
  const auto problemOf = [&](const std::string& path) {
    return folder.without(reportedBy([&] { REQUIRE_FALSE(store.load(path)); }));
  };
  const std::string missing = problemOf(folder.file("none/t.json"));
  // WRITTEN tuning: `gpuopt::loadTuning("none/t.json")`, in a folder that does not exist
  REQUIRE(missing == "gpuopt: the tuning file none/t.json is ignored: it cannot be made: No such file or directory");
  REQUIRE(problemOf("") == "gpuopt: the tuning file  is ignored: its name is empty");
  std::ofstream(folder.file("file")) << "";
  REQUIRE(problemOf(folder.file("file/t.json")) ==
          "gpuopt: the tuning file file/t.json is ignored: it cannot be opened: Not a directory");
  REQUIRE(::symlink("loop", folder.file("loop").c_str()) == 0);
  REQUIRE(problemOf(folder.file("loop")) ==
          "gpuopt: the tuning file loop is ignored: it cannot be opened: Too many levels of symbolic links");
  store.remember(namedEntry("a"));
  REQUIRE(store.find({"a", "float", 1}, "A GPU") == "x");
}

TEST_CASE("A tuning file in a folder that cannot be written is read, but not made") {
  const TuningFolder folder;
  mergeIntoFile(folder.file(), {namedEntry("a")});
  REQUIRE(::chmod(folder.file().c_str(), 0444) == 0);
  REQUIRE(::chmod(folder.file("").c_str(), 0555) == 0);
  constexpr int SKIPPED = 77;
  const pid_t child = ::fork();
  if (child == 0) {
    if (::geteuid() == 0 && ::setuid(4321) != 0) ::_exit(SKIPPED);  // root may write everywhere
    if (::access(folder.file().c_str(), R_OK) != 0) ::_exit(SKIPPED);
    std::fclose(stderr);
    TuningStore store;
    const bool isRead = store.load(folder.file()) && store.find({"a", "float", 1}, "A GPU") == "x";
    ::_exit(isRead && !store.load(folder.file("new.json")) ? 0 : 1);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(::chmod(folder.file("").c_str(), 0700) == 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == SKIPPED)
    WARN("skipped: another user cannot read the temporary folder");
  else
    REQUIRE(status == 0);
}

TEST_CASE("The environment names a tuning file") {
  const TuningFolder folder;
  mergeIntoFile(folder.file(), {namedEntry("a")});
  REQUIRE(::setenv("GPUOPT_TUNING", folder.file().c_str(), 1) == 0);
  TuningStore store;
  ::unsetenv("GPUOPT_TUNING");
  REQUIRE(store.find({"a", "float", 1}, "A GPU") == "x");
}
