"""Generated conversations: a grammar of what Storm may say, and the hunt for one that shows something wrong."""
