"""What export can say no with."""


class Error(RuntimeError):
    """The base of proviso's own errors."""


class ConstraintViolationError(Error, ValueError):
    """dynamic_shapes promises sizes that the program does not take."""


class DataDependentError(Error):
    """A branch or a size depends on data that only a run has."""
