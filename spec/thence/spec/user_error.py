"""The one kind of exception that a user's input can cause."""


class UserError(Exception):
    """The user's input is at fault: a file, a name, a setting. The message says where and what to do."""
