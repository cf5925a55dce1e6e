"""What eager does and a trace cannot.  A program that catches the error and goes
on takes a way that eager does not: the export ends in it all the same."""

from proviso import _proviso


class NotTraced(NotImplementedError):
    def __init__(self, text):
        super().__init__(text)
        _proviso.note_refusal(text)
