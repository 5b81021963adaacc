"""The one kind of exception that a user's input can cause."""


class UserError(Exception):
    """The user's input is at fault: a file, a name, a setting. The message says where and what to do."""


class CutOff(UserError):
    """What the user named was there, and was lost on the way: the answer is unknown. The message says why."""
