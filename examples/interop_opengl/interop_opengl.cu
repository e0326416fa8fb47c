/// \file
/// CUDA and OpenGL share textures and buffers on one GPU, without a window: a texture that a kernel generates, by
/// itself and by way of a pixel buffer, a kernel that works on what was drawn, and points that a kernel moves. Each
/// becomes a picture, which the host computes, too. Then the ways to a texture are timed.
///
/// Usage: interop_opengl [folder for the pictures]. Exits with 77 where there is no EGL for the GPU.
// SPDX-License-Identifier: MIT
#include "../experiments/texture_object.cuh"
#include "exit_status.hpp"
#include "gl_objects.hpp"
#include "headless_context.hpp"
#include "kernels.cuh"
#include "shared_resource.cuh"
#include "texture_times.cuh"
#include "writer.hpp"

#include <gpuopt/host/device.cuh>

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace {

using experiments::SurfaceObject;
using experiments::TextureObject;

constexpr PictureSize SIZE{256, 192};
constexpr int SKIPPED = 77;

// One triangle that is larger than the picture.
constexpr char EVERYWHERE[] = R"(#version 330 core
void main() {
  gl_Position = vec4(gl_VertexID == 1 ? 3.0 : -1.0, gl_VertexID == 2 ? 3.0 : -1.0, 0.0, 1.0);
})";

// Every second pixel of the texture, which repeats.
constexpr char REPEATED[] = R"(#version 330 core
uniform sampler2D picture;
out vec4 colour;
void main() { colour = texelFetch(picture, 2 * ivec2(gl_FragCoord.xy) % textureSize(picture, 0), 0); })";

// A disc before a chequered wall.
constexpr char SCENE[] = R"(#version 330 core
out vec4 colour;
void main() {
  ivec2 at = ivec2(gl_FragCoord.xy), fromMiddle = at - ivec2(100, 80);
  bool isDisc = fromMiddle.x * fromMiddle.x + fromMiddle.y * fromMiddle.y < 3600;
  bool isDark = (at.x / 16 + at.y / 16) % 2 == 0;
  vec3 bytes = isDisc ? vec3(200, 120, 40) : isDark ? vec3(20, 24, 30) : vec3(60, 64, 90);
  colour = vec4(bytes / 255.0, 1.0);
})";

/// The same on the host; beyond the edges of the picture their pixels.
struct ScenePixels {
  __host__ __device__ uchar4 operator()(int x, int y) const {
    x = x < 0 ? 0 : x >= SIZE.width ? SIZE.width - 1 : x;
    y = y < 0 ? 0 : y >= SIZE.height ? SIZE.height - 1 : y;
    const int dx = x - 100, dy = y - 80;
    if (dx * dx + dy * dy < 3600) return {200, 120, 40, 255};
    return (x / 16 + y / 16) % 2 == 0 ? uchar4{20, 24, 30, 255} : uchar4{60, 64, 90, 255};
  }
};

constexpr char AT_POSITION[] = R"(#version 330 core
layout(location = 0) in vec2 position;
flat out vec3 bytes;
void main() {
  bytes = vec3(gl_VertexID % 256, gl_VertexID / 256, 255);
  gl_Position = vec4(2.0 * position / vec2(256.0, 192.0) - 1.0, 0.0, 1.0);
})";
constexpr char COLOUR_OF_POINT[] = R"(#version 330 core
flat in vec3 bytes;
out vec4 colour;
void main() { colour = vec4(bytes / 255.0, 1.0); })";

// ------------------------------------------------------------------------------------- the pictures

/// Red, green, blue and alpha of each pixel, in rows from the bottom.
using Pixels = std::vector<std::uint8_t>;

template <class ColourAt>
Pixels computed(const ColourAt& colourAt) {
  Pixels pixels;
  for (int y = 0; y < SIZE.height; ++y)
    for (int x = 0; x < SIZE.width; ++x) {
      const uchar4 colour = colourAt(x, y);
      pixels.insert(pixels.end(), {colour.x, colour.y, colour.z, colour.w});
    }
  return pixels;
}

/// Compares a picture with the host's and writes it, in rows from the top.
bool finish(const std::string& folder, const char* name, const Pixels& drawn, const Pixels& expected) {
  std::vector<std::uint8_t> rows;
  for (int y = SIZE.height - 1; y >= 0; --y)
    for (int x = 0; x < SIZE.width; ++x) {
      const auto* const pixel = &drawn[static_cast<std::size_t>(4 * (y * SIZE.width + x))];
      rows.insert(rows.end(), pixel, pixel + 3);
    }
  Input picture;
  picture.values = rows;
  picture.width = static_cast<std::size_t>(SIZE.width);
  picture.channels = 3;
  picture.maximum = 255;
  const std::string file = folder + "/" + name + ".ppm";
  writePicture(file, picture);
  const bool isRight = drawn == expected;
  std::printf("  %-8s %s: %s\n", name, file.c_str(), isRight ? "as the host computes it" : "WRONG");
  return isRight;
}

/// Texture and surface objects must not end before the kernel that uses them. Mapped memory needs no such wait.
void waitForKernel() { gpuopt::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize"); }

/// OpenGL draws with a texture.
Pixels drawnWith(const GlPicture& texture) {
  const GlPicture drawn(SIZE.width, SIZE.height);
  const ShaderProgram program(EVERYWHERE, REPEATED);
  drawn.beginDrawing();
  program.use();
  glBindTexture(GL_TEXTURE_2D, texture.texture());
  drawEverywhere();
  return drawn.read();
}

/// A kernel writes a texture, OpenGL draws with it.
Pixels generatedTexture() {
  const GlPicture generated(SIZE.width, SIZE.height);
  const auto shared = SharedResource::texture(generated.texture(), cudaGraphicsRegisterFlagsSurfaceLoadStore);
  {
    const MappedResource mapped(shared);
    const SurfaceObject surface(mapped.array());
    gpuopt::launch(drawRings, configOf(SIZE), surface.get(), SIZE);
    waitForKernel();
  }
  return drawnWith(generated);
}

/// The same by way of a pixel buffer, which is an array for the kernel, and which OpenGL copies to the texture.
Pixels generatedBuffer() {
  const GlPicture generated(SIZE.width, SIZE.height);
  const std::size_t pixels = static_cast<std::size_t>(SIZE.width) * SIZE.height;
  const GlPixelBuffer buffer(pixels * sizeof(uchar4));
  const auto shared = SharedResource::buffer(buffer.buffer(), cudaGraphicsRegisterFlagsWriteDiscard);
  {
    const MappedResource mapped(shared);
    gpuopt::launch(storeRings, configOf(SIZE), mapped.elements<uchar4>(pixels), SIZE);
  }
  generated.write(buffer);
  return drawnWith(generated);
}

/// OpenGL draws a picture, a kernel reads it through a texture object and writes another picture.
Pixels postProcessed() {
  const GlPicture scene(SIZE.width, SIZE.height), edges(SIZE.width, SIZE.height);
  const auto sharedScene = SharedResource::texture(scene.texture(), cudaGraphicsRegisterFlagsReadOnly);
  const auto sharedEdges = SharedResource::texture(edges.texture(), cudaGraphicsRegisterFlagsSurfaceLoadStore);
  const ShaderProgram program(EVERYWHERE, SCENE);
  scene.beginDrawing();
  program.use();
  drawEverywhere();
  {
    const MappedResource from(sharedScene), to(sharedEdges);
    const TextureObject texture(from.array(), {});
    const SurfaceObject surface(to.array());
    gpuopt::launch(findEdges, configOf(SIZE), texture.get(), surface.get(), SIZE);
    waitForKernel();
  }
  return edges.read();
}

constexpr int POINTS = 2000, STEPS = 100;

std::vector<Point> firstPoints() {
  std::vector<Point> points;
  for (int i = 0; i < POINTS; ++i)
    points.push_back({{static_cast<float>(i * 37 % SIZE.width) + 0.5F, static_cast<float>(i * 53 % SIZE.height) + 0.5F},
                      {static_cast<float>(i % 11 - 5), static_cast<float>(i % 7 - 3)}});
  return points;
}

/// A kernel moves the points of a vertex buffer, OpenGL draws them.
Pixels movedPoints() {
  const std::vector<Point> first = firstPoints();
  const GlPicture drawn(SIZE.width, SIZE.height);
  const GlPoints points(first.data(), first.size(), sizeof(Point));
  const auto shared = SharedResource::buffer(points.buffer(), cudaGraphicsRegisterFlagsNone);
  const ShaderProgram program(AT_POSITION, COLOUR_OF_POINT);
  gpuopt::LaunchConfig config;
  config.grid = dim3((POINTS + 127) / 128);
  config.block = dim3(128);
  for (int step = 0; step < STEPS; ++step) {
    {
      const MappedResource mapped(shared);
      gpuopt::launch(movePoints, config, mapped.elements<Point>(POINTS), POINTS, SIZE);
    }
    drawn.beginDrawing();
    program.use();
    points.draw();
  }
  return drawn.read();
}

Pixels movedOnHost() {
  std::vector<Point> points = firstPoints();
  for (int step = 0; step < STEPS; ++step)
    for (Point& point : points) point = moved(point, SIZE);
  Pixels pixels = computed([](int, int) { return uchar4{0, 0, 0, 255}; });
  for (int i = 0; i < POINTS; ++i) {
    const float2 at = points[static_cast<std::size_t>(i)].position;
    auto* const pixel = &pixels[static_cast<std::size_t>(4 * (int(at.y) * SIZE.width + int(at.x)))];
    pixel[0] = static_cast<std::uint8_t>(i % 256);
    pixel[1] = static_cast<std::uint8_t>(i / 256);
    pixel[2] = 255;
  }
  return pixels;
}

bool run(const std::string& folder) {
  const HeadlessContext context(gpuopt::currentDevice());
  std::printf("interop_opengl on %s\n", context.description().c_str());
  const auto rings = [](int x, int y) { return ringAt(SIZE, 2 * x % SIZE.width, 2 * y % SIZE.height); };
  const auto edges = [](int x, int y) { return edgeAt(ScenePixels{}, x, y); };
  bool isRight = finish(folder, "rings", generatedTexture(), computed(rings));
  isRight = finish(folder, "buffer", generatedBuffer(), computed(rings)) && isRight;
  isRight = finish(folder, "edges", postProcessed(), computed(edges)) && isRight;
  isRight = finish(folder, "points", movedPoints(), movedOnHost()) && isRight;
  printTextureTimes();
  return isRight;
}

}  // namespace

int main(int count, char** words) {
  bool isSkipped = false;
  const int status = exitStatusOf("interop_opengl", [&] {
    try {
      return run(count > 1 ? words[1] : ".");
    } catch (const NoGraphics& reason) {
      std::printf("interop_opengl: skipped: %s\n", reason.what());
      isSkipped = true;
      return false;
    }
  });
  return isSkipped ? SKIPPED : status;
}
