// SPDX-License-Identifier: MIT
__global__ void kernel() {}

int main() { kernel<<<1, 1>>>(); }
