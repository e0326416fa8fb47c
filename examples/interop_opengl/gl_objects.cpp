/// \file
/// Objects of OpenGL.
// SPDX-License-Identifier: MIT
#include "gl_objects.hpp"

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

GLuint compiled(GLenum kind, const char* source) {
  const GLuint shader = glCreateShader(kind);
  glShaderSource(shader, 1, &source, nullptr);
  glCompileShader(shader);
  GLint isDone = GL_FALSE;
  glGetShaderiv(shader, GL_COMPILE_STATUS, &isDone);
  if (isDone == GL_TRUE) return shader;
  char message[1024] = "";
  glGetShaderInfoLog(shader, sizeof message, nullptr, message);
  glDeleteShader(shader);
  throw std::runtime_error(std::string("a shader does not compile: ") + message);
}

}  // namespace

void checkGl(const char* what) {
  const GLenum code = glGetError();
  if (code == GL_NO_ERROR) return;
  char line[80];
  std::snprintf(line, sizeof line, "%s: OpenGL error 0x%x", what, code);
  throw std::runtime_error(line);
}

ShaderProgram::ShaderProgram(const char* vertexSource, const char* fragmentSource) {
  const GLuint vertex = compiled(GL_VERTEX_SHADER, vertexSource),
               fragment = compiled(GL_FRAGMENT_SHADER, fragmentSource);
  program_ = glCreateProgram();
  glAttachShader(program_, vertex);
  glAttachShader(program_, fragment);
  glLinkProgram(program_);
  glDeleteShader(vertex);
  glDeleteShader(fragment);
  GLint isDone = GL_FALSE;
  glGetProgramiv(program_, GL_LINK_STATUS, &isDone);
  if (isDone != GL_TRUE) throw std::runtime_error("shaders do not link");
}

GlPicture::GlPicture(int width, int height) : width_(width), height_(height) {
  glGenTextures(1, &texture_);
  glBindTexture(GL_TEXTURE_2D, texture_);
  glTexImage2D(GL_TEXTURE_2D, 0, GL_RGBA8, width, height, 0, GL_RGBA, GL_UNSIGNED_BYTE, nullptr);
  // Without smaller copies of the picture.
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MIN_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAG_FILTER, GL_NEAREST);
  glTexParameteri(GL_TEXTURE_2D, GL_TEXTURE_MAX_LEVEL, 0);
  glGenFramebuffers(1, &framebuffer_);
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glFramebufferTexture2D(GL_FRAMEBUFFER, GL_COLOR_ATTACHMENT0, GL_TEXTURE_2D, texture_, 0);
  if (glCheckFramebufferStatus(GL_FRAMEBUFFER) != GL_FRAMEBUFFER_COMPLETE)
    throw std::runtime_error("a texture cannot be drawn on");
  beginDrawing();
  checkGl("GlPicture");
}

GlPicture::~GlPicture() {
  glDeleteFramebuffers(1, &framebuffer_);
  glDeleteTextures(1, &texture_);
}

void GlPicture::beginDrawing() const {
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glViewport(0, 0, width_, height_);
  glClearColor(0, 0, 0, 1);
  glClear(GL_COLOR_BUFFER_BIT);
}

std::vector<std::uint8_t> GlPicture::read() const {
  std::vector<std::uint8_t> pixels(4 * static_cast<std::size_t>(width_) * static_cast<std::size_t>(height_));
  glBindFramebuffer(GL_FRAMEBUFFER, framebuffer_);
  glPixelStorei(GL_PACK_ALIGNMENT, 1);
  glReadPixels(0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels.data());
  checkGl("glReadPixels");
  return pixels;
}

void GlPicture::write(const std::uint8_t* pixels) const {
  glBindTexture(GL_TEXTURE_2D, texture_);
  glPixelStorei(GL_UNPACK_ALIGNMENT, 1);
  glTexSubImage2D(GL_TEXTURE_2D, 0, 0, 0, width_, height_, GL_RGBA, GL_UNSIGNED_BYTE, pixels);
  checkGl("glTexSubImage2D");
}

void GlPicture::write(const GlPixelBuffer& pixels) const {
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, pixels.buffer());
  write(static_cast<const std::uint8_t*>(nullptr));  // an offset in the bound buffer
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);
}

GlPixelBuffer::GlPixelBuffer(std::size_t bytes) {
  glGenBuffers(1, &buffer_);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, buffer_);
  glBufferData(GL_PIXEL_UNPACK_BUFFER, static_cast<GLsizeiptr>(bytes), nullptr, GL_STREAM_DRAW);
  glBindBuffer(GL_PIXEL_UNPACK_BUFFER, 0);  // or every later glTexSubImage2D would read from it
  checkGl("GlPixelBuffer");
}

GlPoints::GlPoints(const void* data, std::size_t count, std::size_t bytes) : count_(static_cast<GLsizei>(count)) {
  glGenVertexArrays(1, &vertices_);
  glBindVertexArray(vertices_);
  glGenBuffers(1, &buffer_);
  glBindBuffer(GL_ARRAY_BUFFER, buffer_);
  glBufferData(GL_ARRAY_BUFFER, static_cast<GLsizeiptr>(count * bytes), data, GL_DYNAMIC_DRAW);
  glVertexAttribPointer(0, 2, GL_FLOAT, GL_FALSE, static_cast<GLsizei>(bytes), nullptr);
  glEnableVertexAttribArray(0);
  checkGl("GlPoints");
}

GlPoints::~GlPoints() {
  glDeleteBuffers(1, &buffer_);
  glDeleteVertexArrays(1, &vertices_);
}

void GlPoints::draw() const {
  glBindVertexArray(vertices_);
  glDrawArrays(GL_POINTS, 0, count_);
  checkGl("glDrawArrays");
}

void drawEverywhere() {
  // The shader makes a triangle of the numbers of the vertices, but there must be an array of them.
  GLuint vertices = 0;
  glGenVertexArrays(1, &vertices);
  glBindVertexArray(vertices);
  glDrawArrays(GL_TRIANGLES, 0, 3);
  glDeleteVertexArrays(1, &vertices);
  checkGl("glDrawArrays");
}
