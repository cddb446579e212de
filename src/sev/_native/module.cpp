// The extension as Python imports it. Only this file and those in bind/ know Python: they check what comes in, release
// the GIL, and hand plain views to the algorithms.
#include "bind/arrays.hpp"

NB_MODULE(_native, m) {
#if !defined(SEV_REPORT_LEAKS)
    // What daemon threads still hold when Python ends would be reported as a leak.
    nanobind::set_leak_warnings(false);
#endif
    m.doc() = "Searches over plain arrays, in compiled code.";
    m.def(
        "set_poll",
        [](nanobind::object poll) {
            if (!poll.is_none() && PyCallable_Check(poll.ptr()) == 0) {
                throw nanobind::type_error("poll must be a function or None");
            }
            PyObject*& held = sev::bind::poll_of_thread();
            PyObject* before = held;
            held = poll.is_none() ? nullptr : poll.release().ptr();
            Py_XDECREF(before);
        },
        nanobind::arg("poll").none(),
        "Call a function every few milliseconds while this thread searches; what it raises ends the search. None: nothing.");
    sev::bind::bind_linear(m);
    sev::bind::bind_rows(m);
    sev::bind::bind_trees(m);
    sev::bind::bind_free(m);
    sev::bind::bind_joint(m);
}
