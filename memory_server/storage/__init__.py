"""Stores, one package per database."""
