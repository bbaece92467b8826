"""The result model, and every format it is shown in.

``model`` and ``verdict`` are the result and its exit code; ``formats/`` every format and the table of them;
``explaining/`` rules and causes on a page; ``html/`` documents of typed sections, shown by the page kit; ``matrix/``
libraries held against cases; ``evidence/`` recordings and what was found in them, in one file.
"""
