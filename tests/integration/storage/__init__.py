"""Stores over real databases."""
