"""A bake: the processes that fill a cache from a job."""
