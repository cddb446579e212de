// The extension as Python imports it. Only this file and those in bind/ know Python: they check what comes in, release
// the GIL, and hand plain views to the algorithms.
#include "bind/arrays.hpp"

NB_MODULE(_native, m) {
    m.doc() = "Searches over plain arrays, in compiled code.";
    sev::bind::bind_linear(m);
    sev::bind::bind_trees(m);
}
