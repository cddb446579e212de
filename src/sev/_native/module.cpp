// The only file that knows Python: it checks what comes in and hands it to the algorithms.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

NB_MODULE(_native, m) {
    m.doc() = "Searches over plain arrays, in compiled code.";
    m.def("abi", [] { return NB_VERSION_MAJOR; }, "Major version of nanobind that bound this extension.");
}
