"""The documentation site: the pages of docs/, and the pages that are made of results, as HTML in one folder.

`__main__` is the command; `staging` gathers the Markdown of every page in one folder; `library_file` makes the page of
a library file, and `address` the address of a statement on it; `configuration` is that of Zensical, which turns the
folder into HTML; `links` finds what does not resolve in the HTML, and what would leave the browser.
"""
