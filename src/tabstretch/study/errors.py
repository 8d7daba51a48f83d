"""`StudyError`: what stops a study, in words that say what to do."""

from __future__ import annotations


class StudyError(RuntimeError):
    """A study cannot start or go on. Whatever it has finished is stored."""
