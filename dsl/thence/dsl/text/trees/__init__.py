"""The syntax tree of a text, built by one method for each rule of the grammar. Begin with `declarations`."""
