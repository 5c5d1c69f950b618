"""Graphics libraries, self-test, versions: what this machine has."""
