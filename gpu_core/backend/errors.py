"""What goes wrong with a device."""


class BackendError(RuntimeError):
    """A backend that cannot be used. `problem` and `mend` are for the user."""

    def __init__(self, problem: str, mend: str) -> None:
        super().__init__(f"{problem}. {mend}")
        self.problem = problem
        self.mend = mend
