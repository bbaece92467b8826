"""Stores of progress: what they have in common, each of them, and the choice by conf."""
