"""Tests of the project configuration."""
