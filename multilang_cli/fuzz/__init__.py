"""Generated conversations: a grammar of what Storm may say, and the search for one that shows something wrong."""
