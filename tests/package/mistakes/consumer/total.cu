// A source of the same path as one of the folder above.
// SPDX-License-Identifier: MIT
