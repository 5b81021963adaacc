"""`thence play`: protocols and counterexamples in a browser.

`backend` answers questions about a specification with JSON values, without input or output. `front` is the page. Two
things call the backend for the page: `server`, on this machine, and an interpreter in the browser itself. `page` puts
the page together, `single_file` puts a run into it.
"""
