/// Links the files that hold one header each: that they link is the test.
// SPDX-License-Identifier: MIT
int main() {}
