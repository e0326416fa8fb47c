/// \file
/// Shaders, pictures to draw on and to read, and points, of OpenGL 3.3. Plain C++.
// SPDX-License-Identifier: MIT
#pragma once

#define GL_GLEXT_PROTOTYPES
#include <GL/gl.h>
#include <GL/glext.h>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Throws std::runtime_error if OpenGL has an error since the last call.
void checkGl(const char* what);

class ShaderProgram {
 public:
  /// Throws std::runtime_error with the compiler's message.
  ShaderProgram(const char* vertexSource, const char* fragmentSource);
  ShaderProgram(const ShaderProgram&) = delete;
  ShaderProgram& operator=(const ShaderProgram&) = delete;
  ~ShaderProgram() { glDeleteProgram(program_); }

  void use() const { glUseProgram(program_); }

 private:
  GLuint program_ = 0;
};

/// Bytes of a pixel unpack buffer, from which OpenGL fills textures.
class GlPixelBuffer {
 public:
  explicit GlPixelBuffer(std::size_t bytes);
  GlPixelBuffer(const GlPixelBuffer&) = delete;
  GlPixelBuffer& operator=(const GlPixelBuffer&) = delete;
  ~GlPixelBuffer() { glDeleteBuffers(1, &buffer_); }

  GLuint buffer() const { return buffer_; }

 private:
  GLuint buffer_ = 0;
};

/// A texture of four bytes a pixel, which can be drawn on.
class GlPicture {
 public:
  GlPicture(int width, int height);
  GlPicture(const GlPicture&) = delete;
  GlPicture& operator=(const GlPicture&) = delete;
  ~GlPicture();

  GLuint texture() const { return texture_; }

  /// What is drawn from now on goes here; the picture is black.
  void beginDrawing() const;

  /// Red, green, blue and alpha of all pixels, in rows from the bottom.
  std::vector<std::uint8_t> read() const;

  /// Replaces all pixels, of the same form, by those of a buffer or of the host's memory.
  void write(const GlPixelBuffer& pixels) const;
  void write(const std::uint8_t* pixels) const;

 private:
  int width_, height_;
  GLuint texture_ = 0, framebuffer_ = 0;
};

/// Vertices in a buffer: `bytes` from one to the next, of which the first two floats are the position.
class GlPoints {
 public:
  GlPoints(const void* data, std::size_t count, std::size_t bytes);
  GlPoints(const GlPoints&) = delete;
  GlPoints& operator=(const GlPoints&) = delete;
  ~GlPoints();

  GLuint buffer() const { return buffer_; }
  void draw() const;

 private:
  GLsizei count_;
  GLuint vertices_ = 0, buffer_ = 0;
};

/// Runs the fragment shader for each pixel.
void drawEverywhere();
