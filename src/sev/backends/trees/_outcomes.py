"""How the search for one row ended in a kernel."""

FOUND_SETS = 0
#: No set crosses.
NONE = 1
#: None up to the size limit does.
TOO_LARGE = 2
#: The budget ended first.
SPENT = 3
#: The wide kernel must go on; or the narrow one, walking the trees.
WIDE, NARROW = 4, 5
