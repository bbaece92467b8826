"""HTML pages: a page document of typed sections, filled here, shown by the page kit (``page_kit/``)."""
