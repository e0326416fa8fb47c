/// \file
/// Devices, displays and contexts of EGL.
// SPDX-License-Identifier: MIT
#include "headless_context.hpp"

#include "gl_objects.hpp"

#include <EGL/egl.h>
#include <EGL/eglext.h>

#include <cstdio>
#include <vector>

namespace {

/// A function of an extension.
template <class Function>
Function extensionFunction(const char* name) {
  const auto function = reinterpret_cast<Function>(eglGetProcAddress(name));
  if (function == nullptr) throw NoGraphics(std::string("EGL has no ") + name);
  return function;
}

void require(bool isDone, const char* call) {
  if (isDone) return;
  char line[80];
  std::snprintf(line, sizeof line, "%s: EGL error 0x%x", call, static_cast<unsigned>(eglGetError()));
  throw NoGraphics(line);
}

/// The device of EGL that is this device of CUDA.
EGLDeviceEXT deviceOf(int cudaDevice) {
  const auto queryDevices = extensionFunction<PFNEGLQUERYDEVICESEXTPROC>("eglQueryDevicesEXT");
  const auto queryAttribute = extensionFunction<PFNEGLQUERYDEVICEATTRIBEXTPROC>("eglQueryDeviceAttribEXT");
  EGLint count = 0;
  require(queryDevices(0, nullptr, &count) == EGL_TRUE, "eglQueryDevicesEXT");
  std::vector<EGLDeviceEXT> devices(static_cast<std::size_t>(count));
  require(queryDevices(count, devices.data(), &count) == EGL_TRUE, "eglQueryDevicesEXT");
  for (const EGLDeviceEXT device : devices) {
    EGLAttrib number = -1;
    if (queryAttribute(device, EGL_CUDA_DEVICE_NV, &number) == EGL_TRUE && number == cudaDevice) return device;
  }
  throw NoGraphics("none of the " + std::to_string(count) + " devices of EGL is CUDA device " +
                   std::to_string(cudaDevice));
}

EGLContext makeContext(EGLDisplay display) {
  require(eglInitialize(display, nullptr, nullptr) == EGL_TRUE, "eglInitialize");
  require(eglBindAPI(EGL_OPENGL_API) == EGL_TRUE, "eglBindAPI");
  constexpr EGLint WANTED[] = {EGL_SURFACE_TYPE, EGL_PBUFFER_BIT, EGL_RENDERABLE_TYPE, EGL_OPENGL_BIT, EGL_NONE};
  EGLConfig config = nullptr;
  EGLint configs = 0;
  require(eglChooseConfig(display, WANTED, &config, 1, &configs) == EGL_TRUE && configs == 1, "eglChooseConfig");
  constexpr EGLint VERSION[] = {
      EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
      EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
  const EGLContext context = eglCreateContext(display, config, EGL_NO_CONTEXT, VERSION);
  require(context != EGL_NO_CONTEXT, "eglCreateContext");
  require(eglMakeCurrent(display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE, "eglMakeCurrent");
  return context;
}

}  // namespace

HeadlessContext::HeadlessContext(int cudaDevice) {
  const EGLDeviceEXT device = deviceOf(cudaDevice);
  const auto platformDisplay = extensionFunction<PFNEGLGETPLATFORMDISPLAYEXTPROC>("eglGetPlatformDisplayEXT");
  display_ = platformDisplay(EGL_PLATFORM_DEVICE_EXT, device, nullptr);
  require(display_ != EGL_NO_DISPLAY, "eglGetPlatformDisplayEXT");
  context_ = makeContext(display_);
}

HeadlessContext::~HeadlessContext() {
  eglMakeCurrent(display_, EGL_NO_SURFACE, EGL_NO_SURFACE, EGL_NO_CONTEXT);
  eglDestroyContext(display_, context_);
  eglTerminate(display_);
}

std::string HeadlessContext::description() const {
  const auto text = [](GLenum name) { return std::string(reinterpret_cast<const char*>(glGetString(name))); };
  return text(GL_RENDERER) + ", OpenGL " + text(GL_VERSION);
}
