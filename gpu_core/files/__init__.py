"""All that is on disk: job, cache, checkpoint."""
