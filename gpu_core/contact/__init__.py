"""Contact: which pairs can touch (broad phase), how far vertices may go (filter), and what holds them apart (barrier)."""
