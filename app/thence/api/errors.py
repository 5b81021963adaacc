"""The error of a request that cannot be met as it is."""

from __future__ import annotations

from thence.spec.user_error import UserError


class BadRequest(UserError):
    """A setting that is none, or does not go with another; the message names it as the command line does."""
