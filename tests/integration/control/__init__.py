"""Tests of the control plane on real files and processes."""
