/// \file
/// The experiment on textures and surfaces.
// SPDX-License-Identifier: MIT
#include "textures.cuh"

#include "experiment.hpp"
#include "measure.cuh"
#include "texture_filters.cuh"

#include <gpuopt/access.cuh>

#include <cmath>
#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

namespace experiments {
namespace {

/// A picture or volume in plain device memory to be timed; small on the emulated device, where nothing is timed.
template <class T>
class TimedImage {
 public:
  explicit TimedImage(ImageSize size)
      : size_(emulated ? ImageSize{32, 8, size.depth > 1 ? 4 : 1} : size), memory_(size_.count()) {
    using Word = std::conditional_t<std::is_same_v<T, uchar4>, unsigned, float>;
    ladders::fill(reinterpret_cast<Word*>(memory_.data()), memory_.bytes() / sizeof(Word));
  }
  T* data() const { return memory_.data(); }
  ImageSize size() const { return size_; }

 private:
  ImageSize size_;
  DeviceArray<T> memory_;
};

/// Thousands of millions of elements a second.
template <class Call>
double elementsPerSecond(ImageSize size, const Call& call) {
  return billionsPerSecond(double(size.count()), call);
}

template <class Walk>
std::string sectorsOf(ImageSize size) {
  const auto access = gpuopt::globalAccess<float>([size](unsigned lane) {
    const ImagePlace at = Walk::at({0, 0, 0}, lane);
    return unsigned(size.indexOf(at.x, at.y, at.z));
  });
  return format("%u", access.sectors);
}

// ---------------------------------------------------------------------------------------- locality

/// Whether a walk through textures gives the sums of the host's. makeImage(from, size): what textures read.
template <class Walk, class Reader, class MakeImage>
bool isReadRight(ImageSize size, const MakeImage& makeImage) {
  const auto values = wholeNumbers<float>(size.count());
  const auto expected = sumsOnHost<Walk>(values, size);
  const auto direct = resultOf<float>(values, expected.size(), [size](const float* from, float* to) {
    launchSums<Walk>(PlainImage{from, size}, to, size);
  });
  const auto fetched = resultOf<float>(values, expected.size(), [&](const float* from, float* to) {
    const auto image = makeImage(from, size);
    const TextureObject texture(image.resource(), {});
    launchSums<Walk>(Reader{texture.get()}, to, size);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
  return direct == expected && fetched == expected;
}

constexpr auto arrayOf = [](const float* from, ImageSize size) { return ImageArray(from, size); };
constexpr auto pitchedOf = [](const float* from, ImageSize size) { return PitchedImage<float>(from, size); };

void flatLocality(Report& report) {
  constexpr ImageSize SIZE{8192, 8192, 1};
  const TimedImage<float> plain(SIZE);
  const PitchedImage<float> rows(plain.data(), plain.size());
  const ImageArray array(plain.data(), plain.size());
  const TextureObject ofRows(rows.resource(), {}), ofArray(array.resource(), {});
  const TimedArray<float> out(SIZE.count() / 4);
  report.table({"Reads of a picture of 8192 x 8192 floats, each once, or as many without an order",
                "a warp reads",
                "then",
                "sectors in plain memory",
                {"plain memory, G/s", "texture of pitched rows, G/s", "texture of an array, G/s"}});
  const auto add = [&](auto walk, const char* name, const char* then) {
    using Walk = decltype(walk);
    const auto timed = [&](auto image) {
      return elementsPerSecond(plain.size(), [&] { launchSums<Walk>(image, out.data(), plain.size()); });
    };
    constexpr ImageSize CHECKED{131, 71, 1};
    report.add(
        {name,
         then,
         sectorsOf<Walk>(SIZE),
         {timed(PlainImage{plain.data(), plain.size()}), timed(FlatTexture{ofRows.get()}),
          timed(FlatTexture{ofArray.get()})},
         isReadRight<Walk, FlatTexture>(CHECKED, arrayOf) && isReadRight<Walk, FlatTexture>(CHECKED, pitchedOf)});
  };
  add(AlongRows{}, "32 neighbours of a row", "coalesced");
  add(DownColumns{}, "32 neighbours of a column", "texture: cached by patches");
  add(FlatPatches{}, "a patch of 8 x 4", "texture: cached by patches");
  add(InWindow{}, "anything within 64 x 64", "texture: cached by patches");
}

void deepLocality(Report& report) {
  constexpr ImageSize SIZE{512, 512, 512};
  const TimedImage<float> plain(SIZE);
  const ImageArray array(plain.data(), plain.size());
  const TextureObject texture(array.resource(), {});
  const TimedArray<float> out(SIZE.count() / 4);
  report.table({"Reads of a volume of 512 x 512 x 512 floats, each once",
                "a warp reads",
                "then",
                "sectors in plain memory",
                {"plain memory, G/s", "texture of an array, G/s"}});
  const auto add = [&](auto walk, const char* name, const char* then) {
    using Walk = decltype(walk);
    const auto timed = [&](auto image) {
      return elementsPerSecond(plain.size(), [&] { launchSums<Walk>(image, out.data(), plain.size()); });
    };
    report.add({name,
                then,
                sectorsOf<Walk>(SIZE),
                {timed(PlainImage{plain.data(), plain.size()}), timed(DeepTexture{texture.get()})},
                isReadRight<Walk, DeepTexture>({37, 19, 11}, arrayOf)});
  };
  add(AlongX{}, "32 neighbours along x", "coalesced");
  add(AlongY{}, "32 neighbours along y", "texture: cached by bricks");
  add(AlongZ{}, "32 neighbours along z", "texture: cached by bricks");
  add(DeepPatches{}, "a brick of 4 x 4 x 2", "texture: cached by bricks");
}

// ----------------------------------------------------------------------------------------- filters

/// Elements of small whole numbers; for uchar4, of all bytes.
template <class T>
std::vector<T> elementsFor(std::size_t n) {
  std::vector<T> values(n);
  if constexpr (std::is_same_v<T, uchar4>) {
    for (std::size_t i = 0; i < n; ++i) {
      const unsigned h = ladders::elementAt<unsigned>(i);
      values[i] = make_uchar4(static_cast<unsigned char>(h), static_cast<unsigned char>(h >> 8),
                              static_cast<unsigned char>(h >> 16), static_cast<unsigned char>(h >> 24));
    }
  } else {
    const auto numbers = wholeNumbers<float>(n * sizeof(T) / sizeof(float));
    std::memcpy(static_cast<void*>(values.data()), numbers.data(), n * sizeof(T));
  }
  return values;
}

/// Whether sums of 16 samples agree. Weights of eight bits hold sixteenths and products of two, but not of three.
bool agree(const std::vector<float>& found, const std::vector<float>& expected, double tolerance) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!(std::fabs(double(found[i]) - double(expected[i])) <= tolerance)) return false;
  return found.size() == expected.size();
}

constexpr TextureReading readingOf(Filtering filtering, bool areBytes) {
  return {cudaAddressModeClamp, filtering == Filtering::point ? cudaFilterModePoint : cudaFilterModeLinear, false,
          areBytes ? cudaReadModeNormalizedFloat : cudaReadModeElementType};
}

template <Filtering FILTERING, class T>
void filterRow(Report& report, const char* name, const char* then, const char* predicted, ImageSize from,
               ImageSize size) {
  using Result = decltype(asFloats(T{}));
  constexpr TextureReading READING = readingOf(FILTERING, std::is_same_v<T, uchar4>);
  constexpr bool IS_DEEP = FILTERING == Filtering::trilinear;
  constexpr ImageSize CHECKED_FROM{40, 30, IS_DEEP ? 9 : 1}, CHECKED{61, 43, IS_DEEP ? 5 : 1};
  const auto values = elementsFor<T>(CHECKED_FROM.count());
  const auto expected = samplesOnHost<FILTERING>(values, CHECKED_FROM, CHECKED);
  const auto byHand = resultOf<float>(values, CHECKED.count(), [&](const T* data, float* to) {
    launchSamples(FilterByHand<FILTERING, T>{data, CHECKED_FROM}, to, CHECKED);
  });
  const auto byTexture = resultOf<float>(values, CHECKED.count(), [&](const T* data, float* to) {
    const ImageArray array(data, CHECKED_FROM);
    const TextureObject texture(array.resource(), READING);
    launchSamples(FilteringTexture<FILTERING, Result>{texture.get()}, to, CHECKED);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });

  const TimedImage<T> plain(from);
  const ImageArray array(plain.data(), plain.size());
  const TextureObject texture(array.resource(), READING);
  const TimedArray<float> out(size.count());
  const auto timed = [&](auto sampler) {
    return samplesOfThread * elementsPerSecond(size, [&] { launchSamples(sampler, out.data(), size); });
  };
  report.add({name,
              then,
              predicted,
              {timed(FilteringTexture<FILTERING, Result>{texture.get()}),
               timed(FilterByHand<FILTERING, T>{plain.data(), plain.size()})},
              agree(byHand, expected, 0.01) && agree(byTexture, expected, IS_DEEP ? 0.5 : 0.1)});
}

void filters(Report& report) {
  constexpr ImageSize PICTURE{2048, 2048, 1}, VOLUME{160, 160, 160}, OUT{2048, 2048, 1}, DEEP_OUT{160, 160, 160};
  report.table({"Samples between elements, 11 / 16 of an element apart",
                "filter, elements",
                "then",
                "a multiprocessor",
                {"texture units, G/s", "by hand, G/s"}});
  filterRow<Filtering::point, float>(report, "nearest of floats", "48.2 G/s", "4 a cycle", PICTURE, OUT);
  filterRow<Filtering::bilinear, float>(report, "bilinear, floats", "free", "4 a cycle", PICTURE, OUT);
  filterRow<Filtering::bilinear, uchar4>(report, "bilinear, 4 bytes as floats", "48.2 G/s", "4 a cycle", PICTURE, OUT);
  filterRow<Filtering::bilinear, float4>(report, "bilinear, 4 floats", "", "1 a cycle", PICTURE, OUT);
  filterRow<Filtering::trilinear, float>(report, "trilinear, floats", "", "2 a cycle", VOLUME, DEEP_OUT);
}

// -------------------------------------------------------------------------------- addressing modes

template <Outside OUTSIDE, bool IS_NORMALIZED>
auto edgeReader(const TextureObject& texture, ImageSize size) {
  if constexpr (IS_NORMALIZED)
    return EdgesNormalized{texture.get(), 1 / float(size.width), 1 / float(size.height)};
  else
    return EdgesInElements{texture.get()};
}

template <Outside OUTSIDE, bool IS_NORMALIZED>
void edgeRow(Report& report, const char* name, const TimedImage<float>& plain, const ImageArray& array,
             const TimedArray<float>& out) {
  constexpr TextureReading READING{addressModeOf(OUTSIDE), cudaFilterModePoint, IS_NORMALIZED, cudaReadModeElementType};
  constexpr ImageSize CHECKED{67, 21, 1};
  const auto values = wholeNumbers<float>(CHECKED.count());
  const auto expected = neighboursOnHost<OUTSIDE>(values, CHECKED);
  const auto byHand = resultOf<float>(values, CHECKED.count(), [&](const float* from, float* to) {
    launchNeighbours(EdgesByHand<OUTSIDE>{from, CHECKED}, to, CHECKED);
  });
  const auto byTexture = resultOf<float>(values, CHECKED.count(), [&](const float* from, float* to) {
    const ImageArray checked(from, CHECKED);
    const TextureObject texture(checked.resource(), READING);
    launchNeighbours(edgeReader<OUTSIDE, IS_NORMALIZED>(texture, CHECKED), to, CHECKED);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });

  const ImageSize size = plain.size();
  const TextureObject texture(array.resource(), READING);
  const auto timed = [&](auto reader) {
    constexpr int READS = (2 * edgeRadius + 1) * (2 * edgeRadius + 1);
    return READS * elementsPerSecond(size, [&] { launchNeighbours(reader, out.data(), size); });
  };
  report.add(
      {name,
       "free",
       "",
       {timed(edgeReader<OUTSIDE, IS_NORMALIZED>(texture, size)), timed(EdgesByHand<OUTSIDE>{plain.data(), size})},
       byHand == expected && byTexture == expected});
}

void edges(Report& report) {
  constexpr ImageSize SIZE{4096, 4096, 1};
  const TimedImage<float> plain(SIZE);
  const ImageArray array(plain.data(), plain.size());
  const TimedArray<float> out(SIZE.count());
  report.table({"The 25 elements around each of 4096 x 4096, some of them outside",
                "what is outside",
                "then",
                "",
                {"texture units, G/s", "by hand, G/s"}});
  edgeRow<Outside::clamp, false>(report, "the edge", plain, array, out);
  edgeRow<Outside::clamp, true>(report, "the edge, normalised", plain, array, out);
  edgeRow<Outside::border, false>(report, "zeros", plain, array, out);
  edgeRow<Outside::wrap, true>(report, "the other end, normalised", plain, array, out);
  edgeRow<Outside::mirror, true>(report, "a mirror, normalised", plain, array, out);
}

// ------------------------------------------------------------------------------------------ writes

template <class Walk>
void writeRow(Report& report, const char* name, const TimedImage<float>& plain, const SurfaceObject& surface) {
  constexpr ImageSize CHECKED{131, 71, 1};
  const auto expected = writtenOnHost(CHECKED);
  const std::vector<float> before(CHECKED.count(), -1);
  const auto direct = resultOf<float>(before, before.size(), [&](const float*, float* to) {
    launchWrites<Walk>(PlainTarget{to, CHECKED}, CHECKED);
  });
  const auto throughSurface = resultOf<float>(before, before.size(), [&](const float* from, float* to) {
    const ImageArray array(from, CHECKED, cudaArraySurfaceLoadStore);
    const SurfaceObject object(array.resource());
    launchWrites<Walk>(SurfaceTarget{object.get()}, CHECKED);
    array.copyTo(to, CHECKED);
    gpuopt::check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  });
  const ImageSize size = plain.size();
  const auto timed = [&](auto target) { return elementsPerSecond(size, [&] { launchWrites<Walk>(target, size); }); };
  report.add({name,
              "",
              sectorsOf<Walk>({8192, 8192, 1}),
              {timed(PlainTarget{plain.data(), size}), timed(SurfaceTarget{surface.get()})},
              direct == expected && throughSurface == expected});
}

void writes(Report& report) {
  constexpr ImageSize SIZE{8192, 8192, 1};
  const TimedImage<float> plain(SIZE);
  const ImageArray array(plain.data(), plain.size(), cudaArraySurfaceLoadStore);
  const SurfaceObject surface(array.resource());
  report.table({"Writes of a picture of 8192 x 8192 floats",
                "a warp writes",
                "",
                "sectors in plain memory",
                {"plain memory, G/s", "surface, G/s"}});
  writeRow<AlongRows>(report, "32 neighbours of a row", plain, surface);
  writeRow<DownColumns>(report, "32 neighbours of a column", plain, surface);
  writeRow<FlatPatches>(report, "a patch of 8 x 4", plain, surface);
}

void run(Report& report) {
  flatLocality(report);
  deepLocality(report);
  filters(report);
  edges(report);
  writes(report);
}

}  // namespace

const Experiment texturesExperiment{
    "textures",
    "Arrays keep neighbours of all directions close together in memory. Texture units find elements between\n"
    "elements and beyond the edges, and make floats of bytes, without an instruction of the kernel.",
    run};

}  // namespace experiments
